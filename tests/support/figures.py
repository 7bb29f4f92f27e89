"""Figures that do not depend on when the periodic task counts."""

from tests.drivers.world import World

EARLIER = (
    "UPDATE inbox SET received_at = now() - interval '60 s', finished_at = now() - interval '50 s'",
    "UPDATE outbox SET finished_at = now() - interval '40 s' WHERE finished_at IS NOT NULL",
)
AGAIN = (
    "DELETE FROM figure",
    "UPDATE figure_position SET until = now() - interval '10 minutes', inbox_id = 0",
)
WAIT = "UPDATE figure_position SET inbox_id = inbox_id"
"""Until nobody counts any more."""


def count_all(world: World) -> None:
    """Moves what happened a minute back, where everything is over, and counts it."""
    database, figures = world.container.database(), world.container.storage().figures
    world.run(figures.count())
    for statement in (WAIT, *EARLIER, *AGAIN):
        world.run(database.execute(statement))
    world.run(figures.count())
    world.run(database.execute(WAIT))
