"""What names many instances asks for the permissions on all of them at once."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.access.sharing import Grantee, InstanceLevel
from domain.conversations.model import ConversationFilter
from domain.feedback.model import FeedbackFilter
from domain.instances.model import NewInstance
from domain.monitoring.model import DeadLetterId
from domain.use_cases import UseCases
from tests.drivers.world import World

WORKER = False
BOB = Caller("bob")
Call = Callable[[UseCases, list[int]], Awaitable[Any]]


def replay(services: UseCases, ids: list[int]) -> Awaitable[Any]:
    return services.monitoring.dead_letters.replay(BOB, [DeadLetterId(id, "none") for id in ids])


CALLS: dict[str, Call] = {
    "conversations": lambda services, ids: services.conversations.list(
        BOB, ConversationFilter(instance_ids=tuple(ids)), 10, None
    ),
    "feedback": lambda services, ids: services.feedback.list(
        BOB, FeedbackFilter(instance_ids=tuple(ids)), 10, None
    ),
    "usage": lambda services, ids: services.usage.list(BOB, [], None, None, ids, 10, None),
    "reports": lambda services, ids: services.monitoring.reports.list(BOB, [], None, None, ids, 10, None),
    "replays": replay,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_many_instances_take_as_many_queries_as_one(
    world: World, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    storage, services = world.container.storage(), world.container.use_cases()

    async def shared(number: int) -> int:
        instance = await storage.instances.add("ann", NewInstance("http-webhook", f"Bot {number}", {}, ""))
        await storage.instances.grant(instance.id, Grantee("bob"), InstanceLevel.ANSWER)
        return instance.id

    ids = [world.run(shared(number)) for number in range(20)]
    queries: list[object] = []
    fetch = Database.fetch

    async def counted(self: Database, *arguments: Any) -> Any:
        if "instance_access" in str(arguments[0]) or "channel_instance" in str(arguments[0]):
            queries.append(arguments[0])
        return await fetch(self, *arguments)

    monkeypatch.setattr(Database, "fetch", counted)

    def count(named: list[int]) -> int:
        queries.clear()
        world.run(call(services, named))
        return len(queries)

    assert count(ids[:1]) == count(ids) > 0
