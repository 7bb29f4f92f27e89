"""Pushes to subscriptions as a component of a process."""

from __future__ import annotations

from adapters.inbound.jobs.periodic import PeriodicRunner, PeriodicTask
from apps.container import Container
from apps.process import Component, Phase


class SubscriptionsComponent(Component):
    """Puts events on their way to the addresses that subscribe to them; the outbox sends them."""

    name = "subscriptions"
    phase = Phase.WORK

    def __init__(self, container: Container) -> None:
        pushing = container.subscriptions().pushing
        self._periodic = PeriodicRunner(
            [
                PeriodicTask("subscriptions", 1.0, pushing.follow),
                PeriodicTask("subscriptions that are behind", 0.2, pushing.catch_up),
                PeriodicTask("recording for subscriptions", 3600.0, pushing.listen),
                PeriodicTask("failing subscriptions", 3600.0, pushing.switch_off_failing),
            ]
        )

    async def run(self) -> None:
        await self._periodic.run()
