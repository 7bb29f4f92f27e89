"""Time that passes without anybody waiting for it."""

from __future__ import annotations

from datetime import timedelta

from tests.drivers.world import World

MOVED = (
    "UPDATE lane SET due_at = due_at - %(by)s WHERE owner IS NULL",
    "UPDATE outbox SET next_attempt_at = next_attempt_at - %(by)s WHERE next_attempt_at IS NOT NULL",
    "UPDATE send_hold SET until = until - %(by)s",
    "UPDATE send_breaker SET until = until - %(by)s",
)


def pass_time(world: World, seconds: float) -> None:
    """Moves the clock ahead, and what the database keeps by its own clock as far back."""
    world.run(_pass(world, timedelta(seconds=seconds)))


async def _pass(world: World, by: timedelta) -> None:
    container = world.container
    for statement in MOVED:
        await container.database().execute(statement, {"by": by})
    world.clock.advance(by)
    await container.pacer().refresh()
    container.hub().outbound.ring()
