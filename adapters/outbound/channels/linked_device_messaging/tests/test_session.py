"""Sessions of a linked device that follows a script."""

import asyncio
from typing import Any

import pytest

from adapters.outbound.channels.linked_device_messaging.config import CONFIG as MODEL
from adapters.outbound.channels.linked_device_messaging.device import (
    DeviceError,
    Dropped,
    Incoming,
    Linked,
    LoggedOut,
    Unlinked,
)
from adapters.outbound.channels.linked_device_messaging.session import DeviceSession, LinkStatus, is_allowed
from adapters.outbound.channels.tests.support import NOW, SetClock
from domain.channels.messages import Attachment, Event
from tests.support.linked_device import Recorder, ScriptedDevice

PAIRING, CONNECTED, LOGGED_OUT = LinkStatus.PAIRING, LinkStatus.CONNECTED, LinkStatus.LOGGED_OUT
CONFIG = {"phoneNumber": "4915112345678"}


async def live(
    device: ScriptedDevice, recorder: Recorder, config: dict[str, Any] | None = None, wait: float = 60
) -> list[Event]:
    """Lets the session run until the script ends."""
    events: list[Event] = []

    async def emit(event: Event) -> None:
        events.append(event)

    device.happen(None)
    session = DeviceSession(
        device,
        7,
        MODEL.load(config or CONFIG),
        emit,
        recorder,
        SetClock(),
        reconnect_after=0,
        pairing_wait=wait,
    )
    await asyncio.wait_for(session.run(), 120)
    return events


@pytest.mark.parametrize(
    ("before", "event", "after", "done"),
    [
        (PAIRING, Linked(), CONNECTED, []),
        (LOGGED_OUT, Linked(), CONNECTED, []),
        (CONNECTED, LoggedOut("by the phone"), LOGGED_OUT, ["logout", "pair 4915112345678"]),
        (CONNECTED, Dropped("timeout"), CONNECTED, ["connect"]),
        (PAIRING, Dropped("timeout"), PAIRING, ["connect"]),
        (LOGGED_OUT, Dropped("timeout"), LOGGED_OUT, ["connect"]),
    ],
)
async def test_what_an_event_changes(
    before: LinkStatus, event: Any, after: LinkStatus, done: list[str]
) -> None:
    device, recorder = ScriptedDevice(), Recorder(before)
    device.happen(event)
    await live(device, recorder)
    assert (recorder.statuses, device.did) == ([after], ["connect", *done])
    assert recorder.codes == (
        [None] if isinstance(event, Linked) else ["AAAA-1111"] if "logout" in done else []
    )


@pytest.mark.parametrize(
    ("before", "after", "done"),
    [
        (PAIRING, PAIRING, []),
        (LOGGED_OUT, LOGGED_OUT, []),
        (CONNECTED, LOGGED_OUT, ["logout"]),
    ],
)
async def test_what_a_requested_code_changes(before: LinkStatus, after: LinkStatus, done: list[str]) -> None:
    device, recorder = ScriptedDevice(), Recorder(before)
    running = asyncio.create_task(_forever(device, recorder))
    recorder.wanted.put_nowait(None)
    await _until(lambda: recorder.codes == ["AAAA-1111"])
    assert (recorder.statuses, device.did) == ([after], ["connect", *done, "pair 4915112345678"])
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_new_instance_gets_a_code_and_connects() -> None:
    device, recorder = ScriptedDevice(), Recorder()
    device.happen(Unlinked(), Linked())
    await live(device, recorder)
    assert device.did == ["connect", "pair 4915112345678"]
    assert recorder.statuses == [PAIRING, CONNECTED]
    assert recorder.codes == ["AAAA-1111", None]
    assert recorder.ups == [True]


async def test_a_linked_device_asks_for_no_code_after_a_restart() -> None:
    device, recorder = ScriptedDevice(), Recorder(CONNECTED)
    device.happen(Linked())
    await live(device, recorder)
    assert device.did == ["connect"]
    assert recorder.statuses == [CONNECTED]


async def test_a_drop_reconnects_and_stays_connected() -> None:
    device, recorder = ScriptedDevice(), Recorder(CONNECTED)
    device.happen(Linked(), Dropped("timeout"), Linked())
    await live(device, recorder)
    assert device.did == ["connect", "connect"]
    assert recorder.statuses == [CONNECTED, CONNECTED, CONNECTED]
    assert recorder.ups == [True, False, True]


async def test_a_logout_clears_the_state_and_asks_for_a_new_code() -> None:
    device, recorder = ScriptedDevice(), Recorder(CONNECTED)
    device.happen(Linked(), LoggedOut("by the phone"), Unlinked())
    await live(device, recorder)
    assert device.did == ["connect", "logout", "pair 4915112345678"]
    assert recorder.statuses == [CONNECTED, LOGGED_OUT]
    assert recorder.codes == [None, "AAAA-1111"]


async def test_a_code_asked_for_while_connected_ends_the_session() -> None:
    device, recorder = ScriptedDevice(), Recorder(CONNECTED)
    running = asyncio.create_task(_forever(device, recorder))
    device.happen(Linked())
    await _until(lambda: recorder.ups == [True])
    recorder.wanted.put_nowait(None)
    await _until(lambda: recorder.codes == [None, "AAAA-1111"])
    assert (recorder.statuses[-1], recorder.ups) == (LOGGED_OUT, [True, False])
    assert device.did == ["connect", "logout", "pair 4915112345678"]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_each_connection_without_an_account_makes_one_code() -> None:
    device, recorder = ScriptedDevice(), Recorder(PAIRING)
    device.happen(Unlinked(), Unlinked(), Dropped("nobody entered it"), Unlinked())
    await live(device, recorder)
    assert recorder.codes == ["AAAA-1111", "BBBB-2222"]


async def test_a_code_that_does_not_come_in_time_is_said_so() -> None:
    device, recorder = ScriptedDevice(), Recorder()
    device.hangs = True
    device.happen(Unlinked())
    await live(device, recorder, wait=0.01)
    assert recorder.reasons == ["no pairing code came within 0.01 seconds"]
    assert recorder.codes == []


async def test_a_refused_code_is_said_so() -> None:
    device, recorder = ScriptedDevice(), Recorder()
    device.failure = DeviceError("rate-overlimit")
    device.happen(Unlinked())
    await live(device, recorder)
    assert "rate-overlimit" in recorder.reasons


async def test_a_connection_that_could_not_be_begun_is_tried_again() -> None:
    device, recorder = ScriptedDevice(), Recorder(CONNECTED)
    device.failure = DeviceError("the device does not answer")
    running = asyncio.create_task(_forever(device, recorder))
    await _until(lambda: device.did.count("connect") > 1)
    device.failure = None
    tried = device.did.count("connect")
    await _until(lambda: device.did.count("connect") > tried)
    device.happen(Linked())
    await _until(lambda: recorder.ups == [True])
    assert device.did.count("connect") == tried + 1, "and not again once it is begun"
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_code_that_is_asked_for_replaces_the_last() -> None:
    device, recorder = ScriptedDevice(), Recorder()
    running = asyncio.create_task(_forever(device, recorder))
    device.happen(Unlinked())
    await _until(lambda: recorder.codes == ["AAAA-1111"])
    recorder.wanted.put_nowait(None)
    await _until(lambda: recorder.codes == ["AAAA-1111", "BBBB-2222"])
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def _forever(device: ScriptedDevice, recorder: Recorder) -> None:
    async def emit(_: Event) -> None:
        return

    await DeviceSession(device, 7, MODEL.load(CONFIG), emit, recorder, SetClock(), reconnect_after=0).run()


async def _until(holds: Any) -> None:
    async with asyncio.timeout(60):
        while True:
            if holds():
                return
            await asyncio.sleep(0)


def message(**changes: Any) -> Incoming:
    fields: dict[str, Any] = {
        "id": "3EB0",
        "chat": "4917000000001@s.whatsapp.net",
        "sender_ids": ("4917000000001", "99887766@lid"),
        "name": "Ann",
        "text": "Hello",
        "at": NOW.timestamp(),
        **changes,
    }
    return Incoming(**fields)


async def heard(*messages: Incoming, **config: Any) -> list[Event]:
    device, recorder = ScriptedDevice(), Recorder(CONNECTED)
    device.happen(Linked(), *messages)
    return await live(device, recorder, {**CONFIG, **config})


async def test_who_sends_what_cannot_be_read_is_told_so_but_not_in_groups() -> None:
    poll = {"text": "", "unreadable": "polls"}
    (event,) = await heard(message(**poll), message(**poll, is_group=True), message(text=""))
    assert event.canned_reply is not None
    assert event.canned_reply.startswith("I cannot read polls.")


async def test_a_message_is_an_event() -> None:
    picture = Attachment("image", "image/jpeg", {"message": "b64"}, 12)
    (event,) = await heard(message(media=(picture,)))
    assert (event.key, event.session_id, event.text) == (
        "4917000000001@s.whatsapp.net:3EB0",
        "4917000000001",
        "Hello",
    )
    assert [(each.field, each.value) for each in event.sender.identities] == [
        ("business-messaging", "4917000000001"),
        ("phone", "+4917000000001"),
    ]
    assert event.target == {"instance": 7, "chat": "4917000000001@s.whatsapp.net"}
    assert event.attachments[0].source == {"instance": 7, "message": {"message": "b64"}}


async def test_a_group_member_has_a_session_in_the_group() -> None:
    (event,) = await heard(message(chat="1203@g.us", is_group=True))
    assert (event.session_id, event.is_direct) == ("1203@g.us:4917000000001", False)


@pytest.mark.parametrize(
    "changes",
    [
        {"from_me": True},
        {"chat": "status@broadcast"},
        {"chat": "555@newsletter"},
        {"at": NOW.timestamp() - 3600},
        {"text": ""},
    ],
)
async def test_what_is_not_for_us_is_left_alone(changes: dict[str, Any]) -> None:
    assert await heard(message(**changes)) == []


@pytest.mark.parametrize(
    ("numbers", "served"),
    [
        ("", True),
        ("4917000000001", True),
        ("+49 170 00000001, 111", True),
        ("99887766", True),
        ("4917000000002", False),
        (" , ", True),
    ],
)
async def test_allowed_numbers_are_matched_with_all_ids(numbers: str, served: bool) -> None:
    (event,) = await heard(message(), allowedNumbers=numbers)
    assert (event.refused == "") is served


async def test_what_others_write_in_groups_is_not_listed() -> None:
    group = message(chat="120363@g.us", is_group=True)
    assert await heard(group, allowedNumbers="4917000000002") == []


def test_nobody_is_allowed_by_part_of_a_number() -> None:
    assert not is_allowed("4917000000001", ["917000000001"])
    assert not is_allowed("4917000000001", [])
