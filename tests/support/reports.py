"""Days that do not depend on when the periodic task counts, or on how long a step takes.

Whatever the service stores gets the time of the scenario in place of the real one.
"""

from datetime import UTC, date, datetime, timedelta

from adapters.outbound.storage.reports import SQL
from domain.reports.model import BOUNDS
from tests.drivers.world import World

NEVER = """
INSERT INTO report_position (id, until, inbox_id) VALUES (1, 'infinity', 0)
ON CONFLICT (id) DO UPDATE SET until = excluded.until
"""
ASKED = ("inbox.received_at", "send.created_at", "feedback.at", "queue.opened_at", "report_event.opened_at")
ANSWERED = ("inbox.finished_at", "outbox.finished_at", "queue.closed_at", "report_event.at")


class Days:
    """Noon of a day and the days after it. `answer_time`: seconds that each answer takes."""

    def __init__(self, world: World, answer_time: float) -> None:
        self.world, self.answer_time = world, answer_time
        self.now = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=5)
        self.first = self.now.date()
        self.real = self.now + timedelta(days=3)
        self.counted = self.now - timedelta(seconds=1)
        self._execute(NEVER)

    def _execute(self, statement: str, *parameters: object) -> None:
        self.world.run(self.world.container.database().execute(statement, parameters))

    def stamp(self) -> None:
        """Gives what was stored since the last step its time, and lets a second pass."""
        for columns, seconds in ((ASKED, 0.0), (ANSWERED, self.answer_time)):
            for column in columns:
                table, name = column.split(".")
                at = self.now + timedelta(seconds=seconds)
                self._execute(f"UPDATE {table} SET {name} = %s WHERE {name} > %s", at, self.real)
        self.wait(1)

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def next_day(self) -> None:
        self.count()
        self.now = datetime.combine(self.now.date() + timedelta(days=1), self.now.timetz())

    def count(self) -> None:
        """Counts what has happened since the last time."""
        until = self.now + timedelta(hours=1)
        parameters = {"since": self.counted, "until": until, "inbox": 0, "bounds": list(BOUNDS)}

        async def count() -> None:
            async with self.world.container.database().transaction() as connection:
                for name in ("count_day_messages", "count_answers", "count_votes"):
                    await connection.execute(SQL[name], parameters)

        self.world.run(count())
        self.counted = until

    def name_of(self, day: str | None) -> str:
        if day is None:
            return ""
        return {0: "first", 1: "second"}[(date.fromisoformat(day) - self.first).days]
