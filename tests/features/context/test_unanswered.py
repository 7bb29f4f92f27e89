"""Each reason for which a channel refuses messages is counted in the health of the instance, listed, and released."""

from dataclasses import replace

import pytest

from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from adapters.outbound.storage.unanswered import MOST, add_unanswered
from domain.instances.model import NewInstance
from ports.http import HttpAnswer
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.channel_samples import sample_of

WORKER = False
ADDRESS = "/api/agent/channel-instances"
CHANNELS = Registry.build(dependencies(Scripted((), HttpAnswer(200, {}, b"{}")))).all()
REASONS = [(channel.definition.id, reason) for channel in CHANNELS for reason in channel.refusals]


@pytest.mark.parametrize(("channel_id", "reason"), REASONS)
def test_each_reason_is_counted_listed_and_released(
    world: World, rest: Rest, channel_id: str, reason: str
) -> None:
    sample, storage = sample_of(channel_id), world.container.storage()
    event = sample.refused[reason]()
    new = NewInstance(channel_id, "Works", dict(sample.config), "agent::helper")
    instance = world.run(storage.instances.add("ann", new))
    assert world.run(storage.unanswered.add(instance.id, event))
    assert not world.run(storage.unanswered.add(instance.id, event)), "the same message comes again"

    path = f"{ADDRESS}/{instance.id}/unanswered"
    [listed] = rest.request("GET", path, "ann").json()["unanswered"]
    assert (listed["reason"], listed["sender"]) == (reason, event.sender.external_id)
    assert listed["text"] == event.text
    assert rest.health("ann", instance.id).body["unanswered"] == {reason: 1}
    assert rest.request("GET", path, "bob").status_code == 403
    assert rest.request("POST", f"{path}/{listed['id']}/release", "bob").status_code == 403

    assert rest.request("POST", f"{path}/{listed['id']}/release", "ann").status_code == 202
    assert rest.health("ann", instance.id).body["unanswered"] == {}
    stored = world.run(world.container.database().fetch("SELECT status, event FROM inbox"))
    assert [(status, event.text in text) for status, text in stored] == [(0, True)]
    assert not world.run(storage.unanswered.add(instance.id, event)), "it was taken in"


def test_of_an_instance_that_is_gone_nothing_is_listed(world: World) -> None:
    event = sample_of("bot-messenger").refused["channel"]()
    assert not world.run(world.container.storage().unanswered.add(10**9, event))


def test_the_newest_are_kept(world: World) -> None:
    storage = world.container.storage()
    new = NewInstance("bot-messenger", "Works", {"botToken": "1:a"}, "agent::helper")
    instance = world.run(storage.instances.add("ann", new))
    event = sample_of("bot-messenger").refused["channel"]()
    events = [replace(event, key=f"k{number}") for number in range(MOST + 2)]

    async def add() -> None:
        async with world.container.database().transaction() as connection:
            await add_unanswered(connection, instance.id, events)

    world.run(add())
    assert world.run(storage.unanswered.list(instance.id, 1, 0)).window.total == MOST
    kept = world.run(world.container.database().fetch("SELECT event_key FROM unanswered ORDER BY id LIMIT 1"))
    assert kept == [("k2",)]
