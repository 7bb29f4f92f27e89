"""`ports.usage.BudgetStore` in PostgreSQL."""

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import read_statements
from adapters.outbound.storage.usage import count_runs, count_runs_in
from domain.usage.budgets import NOTIFIED, Budget, BudgetKey, BudgetScope, BudgetState

SQL = read_statements(Path(__file__).with_suffix(".sql"))


class PostgresBudgets:
    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def set(self, key: BudgetKey, amount: float, created_by: str, most: int) -> Budget | None:
        values = {
            "scope": key.scope,
            "subject": storable(key.subject),
            "currency": key.currency,
            "by_admin": key.by_admin,
            "amount": amount,
            "created_by": created_by,
            "most": most,
        }
        async with self._database.transaction() as connection:
            await count_runs_in(connection)
            row = await (await connection.execute(SQL["set_budget"], values)).fetchone()
        return None if row is None else await self.find(None, row[0])

    async def list(self, owner: str | None, after: int, limit: int) -> Sequence[Budget]:
        await count_runs(self._database)
        values = {"owner": owner, "after": after, "count": limit}
        return [_budget(*row) for row in await self._database.fetch(SQL["list_budgets"], values)]

    async def find(self, owner: str | None, budget_id: int) -> Budget | None:
        await count_runs(self._database)
        row = await self._database.fetch_one(SQL["find_budget"], {"owner": owner, "id": budget_id})
        return _budget(*row) if row else None

    async def remove(self, budget_id: int) -> None:
        await self._database.execute(SQL["remove_budget"], {"id": budget_id})

    async def states(self) -> Sequence[BudgetState]:
        await count_runs(self._database)
        rows = await self._database.fetch(SQL["budget_states"])
        return [BudgetState(id, BudgetScope(scope), *columns) for id, scope, *columns in rows]

    @retried
    async def tell_reached(self) -> None:
        await self._database.execute(SQL["tell_reached"], {"notified": list(NOTIFIED)})


def _budget(
    id: int,
    scope: str,
    subject: str,
    currency: str,
    by_admin: bool,
    amount: float,
    created_by: str,
    updated_at: datetime,
    month: date,
    spent: float,
) -> Budget:
    return Budget(
        id=id,
        user_id=subject if scope == BudgetScope.USER else None,
        instance_id=int(subject) if scope == BudgetScope.INSTANCE else None,
        resource_id=subject if scope == BudgetScope.AGENT else None,
        tokens=None if currency else int(amount),
        cost=amount if currency else None,
        currency=currency or None,
        by_admin=by_admin,
        created_by=created_by,
        updated_at=updated_at,
        month=f"{month:%Y-%m}",
        spent=spent,
    )
