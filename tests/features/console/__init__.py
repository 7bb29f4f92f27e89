"""Scenarios of the console. A package, so that its one browser ends with it: Playwright runs an event loop in the
thread of the tests, in which no `async def` test may run meanwhile."""
