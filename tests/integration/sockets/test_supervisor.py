"""Connections under leases on a real database, with a scripted device."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from adapters.inbound.sockets import supervisor
from adapters.outbound.channels.linked_device_messaging.device import Incoming, Linked, Unlinked
from adapters.outbound.channels.tests.support import NOW
from adapters.outbound.storage.pool import Database
from adapters.outbound.system.encryption import ConfigCipher, new_key
from domain.channels.messages import Change, Event, Sender
from domain.instances.model import Instance
from domain.instances.pairing import PairingService
from domain.refusals import TooMany, Unavailable
from tests.support.socket_world import CHANNEL, SocketWorld


@pytest.fixture
async def worlds(database_url: str) -> AsyncIterator[Callable[..., SocketWorld]]:
    database, cipher = Database(database_url), ConfigCipher(new_key())
    await database.open()
    made: list[SocketWorld] = []

    def make(owner: int = 1, lack: str | None = None) -> SocketWorld:
        made.append(SocketWorld(database, cipher, owner, lack))
        return made[-1]

    yield make
    for world in made:
        await world.stop()
    await database.close()


async def until(holds: Callable[[], object]) -> None:
    await SocketWorld.until(holds)


async def test_from_creation_to_a_message(worlds: Callable[..., SocketWorld]) -> None:
    world = worlds()
    instance = await world.create()
    assert await world.wa_status(instance) == "pairing"
    await world.supervisor.check()
    world.device.happen(Unlinked())
    await until(lambda: world.told.codes == [(instance.id, "AAAA-1111")])
    assert (await world.health.find(instance.id)).pairing_code == "AAAA-1111"
    assert await world.connections.live(None) == []
    world.device.happen(Linked())
    await until(lambda: _is(world, instance, "connected"))
    await until(lambda: _has_no_code(world, instance))
    await world.supervisor.check()  # prolongs the lease
    (socket,) = await world.connections.live("ann")
    assert (socket.instance_id, socket.channel_id, socket.status) == (instance.id, CHANNEL, "connected")
    assert await world.connections.live("bob") == []
    chat = "4917@s.whatsapp.net"
    message = Incoming("ID1", chat, ("4917",), "Bob", "Hello", NOW.timestamp())
    world.device.happen(message, message)
    await until(lambda: _rows(world, 1))


async def _is(world: SocketWorld, instance: Instance, status: str) -> bool:
    return await world.wa_status(instance) == status


async def _has_no_code(world: SocketWorld, instance: Instance) -> bool:
    return (await world.health.find(instance.id)).pairing_code is None


async def _rows(world: SocketWorld, count: int) -> bool:
    row = await world.database.fetch_one("SELECT count(*) FROM inbox")
    assert row is not None
    return bool(row[0] == count)


async def test_a_code_can_be_asked_for_from_any_process(worlds: Callable[..., SocketWorld]) -> None:
    keeper, other = worlds(1), worlds(2)
    instance = await keeper.create()
    await keeper.supervisor.check()
    await other.supervisor.check()
    assert other.devices.opened == []
    keeper.device.happen(Unlinked())
    await until(lambda: keeper.told.codes)
    pairing = await other.pairing.request(instance)
    assert (pairing.success, pairing.code) == (True, "BBBB-2222")


async def test_without_a_keeper_there_is_no_code(worlds: Callable[..., SocketWorld]) -> None:
    world = worlds()
    instance = await world.create()
    pairing = await PairingService(world.connections, world.channels, 0.3).request(instance)
    assert (pairing.success, pairing.code) == (False, None)
    assert "within 0.3 seconds" in pairing.message


async def test_without_the_extra_there_is_no_code_and_no_connection(
    worlds: Callable[..., SocketWorld],
) -> None:
    world = worlds(lack="this server lacks the extra 'linked-device'")
    instance = await world.create()
    pairing = await world.pairing.request(instance)
    assert (pairing.success, pairing.code) == (False, None)
    assert "lacks the extra" in pairing.message
    assert await world.wa_status(instance) == "pairing"


async def test_asking_too_often_is_refused(worlds: Callable[..., SocketWorld]) -> None:
    world = worlds()
    instance = await world.create()
    for _ in range(20):
        assert await world.connections.request(instance.id) is not None
    with pytest.raises(TooMany):
        await world.pairing.request(instance)


async def test_a_dead_keepers_connections_are_taken_over(worlds: Callable[..., SocketWorld]) -> None:
    keeper, heir = worlds(1), worlds(2)
    await keeper.create()
    await keeper.supervisor.check()
    await heir.supervisor.check()
    assert heir.devices.opened == []
    await until(lambda: keeper.devices.opened)
    await heir.connections.release_of([1])
    await heir.supervisor.check()
    await until(lambda: heir.devices.opened)
    await keeper.supervisor.check()
    await until(lambda: "close" in keeper.device.did)


async def test_the_others_leave_the_work_to_who_keeps_the_connection(
    worlds: Callable[..., SocketWorld],
) -> None:
    keeper, other = worlds(1), worlds(2)
    instance = await keeper.create()
    await other.supervisor.check()
    await keeper.supervisor.check()
    assert keeper.supervisor.held_by_other_process() == {instance.id: 0}
    assert other.supervisor.held_by_other_process() == {}
    await keeper.connections.release_of([2])
    await keeper.supervisor.check()
    await other.supervisor.check()
    assert keeper.supervisor.held_by_other_process() == {}
    assert other.supervisor.held_by_other_process() == {instance.id: 0}


async def test_a_removed_instance_is_unlinked(worlds: Callable[..., SocketWorld]) -> None:
    world = worlds()
    instance = await world.create()
    await world.supervisor.check()
    await until(lambda: "connect" in world.device.did)
    await world.instances.remove(instance.id)
    await world.supervisor.check()
    await until(lambda: world.devices.forgotten == [instance.id])
    assert "logout" in world.device.did


async def test_what_was_removed_while_nobody_looked_is_unlinked_at_the_start(
    worlds: Callable[..., SocketWorld],
) -> None:
    world = worlds()
    kept = await world.create()
    removed = await world.create("bob")
    await world.instances.remove(removed.id)
    elsewhere = removed.id + 1000  # never an instance of this database
    world.devices.states = [kept.id, removed.id, elsewhere]
    await world.supervisor.check()
    await until(lambda: world.devices.forgotten == [removed.id])
    await world.supervisor.check()
    assert world.devices.forgotten == [removed.id]


async def test_a_changed_configuration_starts_the_connection_anew(worlds: Callable[..., SocketWorld]) -> None:
    world = worlds()
    instance = await world.create()
    await world.supervisor.check()
    await until(lambda: "connect" in world.device.did)
    await world.instances.annotate(instance.id, "waStatus", "connected")
    await world.supervisor.check()
    assert len(world.devices.opened) == 1
    await world.instances.annotate(instance.id, "allowedNumbers", "4917")
    await world.supervisor.check()
    await until(lambda: len(world.devices.opened) == 2)


async def test_a_device_that_ends_is_started_again(worlds: Callable[..., SocketWorld]) -> None:
    world = worlds()
    await world.create()
    await world.supervisor.check()
    world.device.happen(None)
    await until(lambda: len(world.devices.opened) >= 2)


async def test_a_message_that_cannot_be_stored_costs_the_connection_nothing(
    worlds: Callable[..., SocketWorld],
) -> None:
    world = worlds()
    instance = await world.create()
    await world.supervisor.check()
    world.device.happen(Linked())
    await until(lambda: _is(world, instance, "connected"))
    await world.database.execute("ALTER TABLE inbox ADD CHECK (position('odd' IN event) = 0)")
    chat, at = "4917@s.whatsapp.net", NOW.timestamp()

    world.device.happen(Incoming("ID1", chat, ("4917",), "Bob", "odd", at))
    world.device.happen(Incoming("ID2", chat, ("4917",), "Bob", "even", at))

    await until(lambda: _rows(world, 1))
    assert len(world.devices.opened) == 1, "the connection is the same"
    reason = "a message could not be stored: an internal error; the log has the details"
    rows = await world.database.fetch("SELECT last_error FROM instance_activity")
    assert (reason,) in rows


async def test_an_instance_that_cannot_be_decrypted_keeps_no_other_waiting(
    worlds: Callable[..., SocketWorld],
) -> None:
    world = worlds()
    broken = await world.create()
    await world.create("bob")
    await world.database.execute("UPDATE channel_instance SET config = 'x' WHERE id = %s", (broken.id,))
    world.instances.forget()
    with pytest.raises(Unavailable):
        await world.supervisor.check()
    await until(lambda: len(world.devices.opened) == 1)


async def test_an_instance_that_wants_no_connection_any_more_is_left(
    worlds: Callable[..., SocketWorld],
) -> None:
    world = worlds()
    instance = await world.create()
    await world.supervisor.check()
    await until(lambda: "connect" in world.device.did)
    await world.instances.set_connects(instance.id, False)
    await world.supervisor.check()
    assert "close" in world.device.did
    assert await world.connections.live(None) == []
    assert await world.database.fetch_column("SELECT owner FROM link") == [None]
    assert "logout" not in world.device.did
    other = worlds(2)
    await other.supervisor.check()
    assert other.devices.opened == []
    await world.instances.set_connects(instance.id, True)
    await other.supervisor.check()
    await until(lambda: other.devices.opened)


@pytest.fixture
async def kept(worlds: Callable[..., SocketWorld]) -> tuple[SocketWorld, int]:
    """A process that has the lease of an instance."""
    world = worlds()
    instance = await world.create()
    await world.connections.acquire([CHANNEL])
    return world, instance.id


def event(text: str) -> Event:
    return Event(f"key {text}", "session", Sender("bob"), text, {})


async def test_events_and_cursor_are_stored_together(kept: tuple[SocketWorld, int]) -> None:
    world, instance_id = kept
    assert await world.connections.cursor(instance_id) is None
    stored = await world.connections.store(instance_id, [event("one"), event("two")], {"offset": 2})
    assert stored == [True, True]
    stored = await world.connections.store(instance_id, [event("two"), event("three")], {"offset": 3})
    assert stored == [False, True], "each once"
    assert await world.connections.cursor(instance_id) == {"offset": 3}
    assert await _rows(world, 3)


async def test_who_lost_the_lease_stores_nothing(
    kept: tuple[SocketWorld, int], worlds: Callable[..., SocketWorld]
) -> None:
    world, instance_id = kept
    heir = worlds(2)
    await heir.connections.release_of([1])
    await heir.connections.acquire([CHANNEL])
    assert await world.connections.store(instance_id, [event("late")], {"offset": 9}) is None
    assert await heir.connections.store(instance_id, [event("mine")], {"offset": 1}) == [True]
    assert await world.connections.cursor(instance_id) == {"offset": 1}
    assert await _rows(world, 1)


async def test_what_cannot_be_stored_is_told_and_costs_no_other(kept: tuple[SocketWorld, int]) -> None:
    world, instance_id = kept
    await world.database.execute("ALTER TABLE inbox ADD CHECK (position('odd' IN event) = 0)")
    storing = world.storing(instance_id)
    await storing.batch([event("one"), event("odd"), event("two")], {"offset": 3})
    assert await _rows(world, 2)
    assert await storing.cursor() == {"offset": 3}
    rows = await world.database.fetch("SELECT last_error FROM instance_activity")
    assert ("1 of 3 new messages could not be stored and are skipped",) in rows


async def test_a_batch_without_the_lease_is_refused(kept: tuple[SocketWorld, int]) -> None:
    world, instance_id = kept
    await world.connections.release(instance_id)
    storing = world.storing(instance_id)
    with pytest.raises(Unavailable, match="another process"):
        await storing.batch([event("one")], {"offset": 1})


async def test_edits_and_posts_in_threads_are_stored_before_the_cursor(kept: tuple[SocketWorld, int]) -> None:
    world, instance_id = kept
    await world.database.execute("ALTER TABLE inbox ADD CHECK (position('odd' IN event) = 0)")
    unfollowed = replace(event("in a thread"), session_id="thread", only_followed=True)
    edited = replace(event("two"), change=Change.EDITED, new_if_answered=True)
    await world.storing(instance_id).batch([event("odd"), event("one"), unfollowed, edited], {"offset": 4})
    assert await _rows(world, 2)
    assert await world.connections.cursor(instance_id) == {"offset": 4}
    rows = await world.database.fetch("SELECT last_error FROM instance_activity")
    assert ("a message could not be stored: an internal error; the log has the details",) in rows


async def test_a_changed_instance_is_looked_at_at_once(
    worlds: Callable[..., SocketWorld], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "CHECK_EVERY", 3600.0)
    world = worlds()
    await world.create()
    running = asyncio.create_task(world.supervisor.run())
    await until(lambda: len(world.devices.opened) == 1)
    instance = await world.create("bob")
    world.supervisor.changed(instance.id)
    await until(lambda: len(world.devices.opened) == 2)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
