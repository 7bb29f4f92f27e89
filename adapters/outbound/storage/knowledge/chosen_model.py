"""The embedding model that an installation has chosen: one row, which all of its processes read."""

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.knowledge.tables import chosen_model
from adapters.outbound.storage.pool import Database

EMBEDDING = "embedding"


class PostgresChosenModel:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self) -> tuple[str, str] | None:
        """Name and precision."""
        row = await self._database.fetch_one(
            select(chosen_model.c.name, chosen_model.c.precision).filter_by(kind=EMBEDDING)
        )
        return (row[0], row[1]) if row else None

    async def choose(self, name: str, precision: str, *, unless_chosen: bool = False) -> None:
        choice = {"name": name, "precision": precision}
        chosen = insert(chosen_model).values(kind=EMBEDDING, **choice)
        if unless_chosen:
            chosen = chosen.on_conflict_do_nothing()
        else:
            chosen = chosen.on_conflict_do_update(index_elements=["kind"], set_=choice)
        await self._database.execute(chosen)
