"""How the statements of a message are planned while their tables are new: what was planned then stays in use."""

import re

import pytest

from adapters.outbound.storage.arrays import Bigints, Bools, Texts
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.outbox import FINISH
from adapters.outbound.storage.queue.outcomes import COMPLETE, columns_of
from adapters.outbound.storage.queue.states import NOT_OFFERED

ONE_SENT = {
    "owner": 1, "ids": Bigints([1]), "keys": Texts(["k"]), "statuses": Bigints([1]), "refs": Texts(["r"]),
    "errors": Texts([None]), "lasts": Bools([True]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [(COMPLETE, {**columns_of([], []), **NOT_OFFERED}), (FINISH, ONE_SENT)],
    ids=["outcome", "sent"],
)
async def test_no_queue_is_looked_for_among_all_of_its_kind(
    database: Database, statement: str, parameters: dict[str, object]
) -> None:
    await database.execute("TRUNCATE queue, inbox, outbox CASCADE")

    lines = await database.fetch("EXPLAIN " + statement, parameters)

    plan = "\n".join(line for (line,) in lines)
    assert re.search(r"queue_pkey on queue \w+ .*\n.*kind = .*instance_id = .*session_key = ", plan), plan
