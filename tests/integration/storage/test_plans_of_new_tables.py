"""How the statements of a message are planned while their tables are new: what was planned then stays in use."""

import re

import pytest

from adapters.outbound.storage.arrays import Bigints, Bools, Texts
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import columns_of
from adapters.outbound.storage.queue.leases import INBOUND, OUTBOUND
from adapters.outbound.storage.queue.statements import SQL

ONE_SENT = {
    "owner": 1, "ids": Bigints([1]), "keys": Texts(["k"]), "statuses": Bigints([1]), "refs": Texts(["r"]),
    "errors": Texts([None]), "lasts": Bools([True]),
}  # fmt: skip
OUTCOME = {**columns_of([]), "owner": 1}
CAPACITY = {
    "full": [], "full_users": [], "count": 10, "instances": [], "instance_capacity": [], "users": [],
    "user_capacity": [], "per_instance": 5, "per_user": 5, "owner": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        (SQL["complete_events"], OUTCOME),
        (SQL["finish_messages"], ONE_SENT),
        (INBOUND.lease, CAPACITY),
        (OUTBOUND.lease, CAPACITY),
    ],
    ids=["outcome", "sent", "lease of events", "lease of messages"],
)
async def test_no_queue_is_looked_for_among_all_of_its_kind(
    database: Database, statement: str, parameters: dict[str, object]
) -> None:
    plan = await plan_of(database, statement, parameters)

    conditions = re.findall(r" on queue \w+ .*\n\s*(Index Cond: .*)", plan)
    assert len(conditions) == len(re.findall(r"Scan .* on queue \w+ ", plan)) > 0, plan
    for condition in conditions:
        assert re.search(r"kind = .*instance_id = .*session_key = ", condition), plan


@pytest.mark.parametrize(
    ("statement", "parameters", "row"),
    [(SQL["complete_events"], OUTCOME, "inbox i"), (SQL["finish_messages"], ONE_SENT, "outbox o")],
    ids=["outcome", "sent"],
)
async def test_what_is_finished_is_found_by_its_id(
    database: Database, statement: str, parameters: dict[str, object], row: str
) -> None:
    plan = await plan_of(database, statement, parameters)

    assert re.search(rf"Index Scan .* on {row} .*\n\s*Index Cond: .*\bid = \w+\.id", plan), plan


async def plan_of(database: Database, statement: str, parameters: dict[str, object]) -> str:
    """With empty tables."""
    await database.execute("TRUNCATE queue, inbox, outbox CASCADE")
    return "\n".join(line for (line,) in await database.fetch("EXPLAIN " + statement, parameters))
