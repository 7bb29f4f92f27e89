"""Time that passes without anybody waiting for it."""

from datetime import timedelta

from tests.drivers.world import World

FAR = timedelta(days=1000)
"""What a scenario puts off by so much is tried again when time is made to pass, however slow the machine is."""

_EARLIER = (
    "{0} = CASE WHEN {0} - %(by)s BETWEEN now() + %(far)s / 2 AND now() + %(far)s THEN {0} - %(by)s - %(far)s"
    " ELSE {0} - %(by)s END"
)

MOVED = (
    f"UPDATE queue SET {_EARLIER.format('due_at')} WHERE owner IS NULL",
    f"UPDATE outbox SET {_EARLIER.format('next_attempt_at')} WHERE next_attempt_at IS NOT NULL",
    "UPDATE inbox SET received_at = received_at - %(by)s WHERE status <> 0",
    "UPDATE send SET created_at = created_at - %(by)s",
    "UPDATE send_cooldown SET until = until - %(by)s",
    "UPDATE send_breaker SET until = until - %(by)s",
)


def pass_time(world: World, seconds: float) -> None:
    """Moves the clock ahead, and what the database keeps by its own clock as far back."""
    world.run(_pass(world, timedelta(seconds=seconds)))


async def _pass(world: World, by: timedelta) -> None:
    container = world.container
    for statement in MOVED:
        await container.database().execute(statement, {"by": by, "far": FAR})
    world.clock.advance(by)
    await container.work().rate_limiter.refresh()
    container.storage().event_bus.outbound.wake()
