"""Event loops of tests, of which many live one after the other, or beside each other, in one process.

gRPC has one queue of events for all loops of a process: each loop that finds it filled hands out what is there. A
service has one loop for its whole life and meets none of what is seen to here.
"""

import asyncio
from typing import Any

_GRPC = "grpc._cython.cygrpc"


class Loop(asyncio.SelectorEventLoop):
    """Takes no offence at gRPC's news for a loop that has ended, nor at its queue emptied by another loop."""

    def call_soon_threadsafe(self, callback: Any, *arguments: Any, context: Any = None) -> Any:
        if self.is_closed() and getattr(callback, "__module__", "") == _GRPC:
            return None
        return super().call_soon_threadsafe(callback, *arguments, context=context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        queue_was_emptied = isinstance(context.get("exception"), BlockingIOError)
        if queue_was_emptied and "PollerCompletionQueue" in context.get("message", ""):
            return
        super().call_exception_handler(context)


class Loops(asyncio.DefaultEventLoopPolicy):
    """Makes every event loop one of these."""

    def new_event_loop(self) -> Loop:
        return Loop()
