"""Devices in processes of their own, with a stand-in for the native library's side."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.channels.linked_device_messaging import device as child_process
from adapters.outbound.channels.linked_device_messaging.device import (
    ChildDevice,
    ChildDevices,
    DeviceError,
    Dropped,
    Incoming,
    Linked,
    LoggedOut,
    OutgoingFile,
    Unlinked,
    event_from,
)

CHILD = """
import json, os, sys
def say(**fields):
    print(json.dumps(fields), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    do, number = asked["command"], asked["id"]
    if do == "connect":
        say(event="unlinked"); say(event="noise"); say(id=number, ok=None)
    elif do == "pair":
        say(id=number, ok="CODE-" + asked["phone"])
    elif do == "logout":
        say(id=number, error="LogoutError: not logged in")
    elif do == "send":
        say(id=number, ok=asked["chat"] + asked["text"] + str(asked.get("mime")))
        if asked["text"] == "mutter":
            os.write(2, b"\\x1b[2J from \\xff\\n" + b"x" * 5_000_000 + b"\\nthe last")
    elif do == "download":
        open(asked["path"], "w").write(asked["message"]); say(id=number, ok=None)
    if do == "send" and asked["text"] == "die":
        sys.exit(3)
    if do == "send" and asked["text"] == "fall silent":
        sys.stdout.close()
        os.close(1)
"""


@pytest.fixture
async def device(tmp_path: Path) -> AsyncIterator[ChildDevice]:
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    devices = ChildDevices(tmp_path / "state", [sys.executable, str(script)])
    opened = await devices.open(7)
    assert devices.running(7) is opened
    yield opened
    await opened.close()
    assert devices.running(7) is None


async def test_requests_are_answered(device: ChildDevice, tmp_path: Path) -> None:
    await device.connect()
    assert await device.pair("4915") == "CODE-4915"
    with pytest.raises(DeviceError, match="not logged in"):
        await device.logout()
    file = OutgoingFile(tmp_path / "x", "x.png", "image/png")
    assert await device.send("chat", "text", file) == "chattextimage/png"
    await device.download({"message": "media"}, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "media"
    assert await anext(device.events()) == Unlinked()


async def test_what_the_library_writes_goes_through_the_log(
    device: ChildDevice,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Names of strangers in it may hold control characters; the log shows them as escapes."""
    monkeypatch.setattr(child_process, "CLOSE_SECONDS", 60.0)  # it has much to write before it ends
    with caplog.at_level("INFO"):
        await device.send("chat", "mutter")
        await device.close()
    lines = [each.getMessage() for each in caplog.records if each.name == child_process.__name__]
    assert lines[0] == "linked device: \x1b[2J from \N{REPLACEMENT CHARACTER}"
    assert lines[-1] == "linked device: the last"
    assert capfd.readouterr().err == ""


async def test_the_end_of_the_process_ends_the_device(device: ChildDevice) -> None:
    await device.send("chat", "die")
    assert [event async for event in device.events()] == []
    with pytest.raises(DeviceError):
        await device.pair("4915")


async def test_a_process_that_is_just_ending_answers_nobody(device: ChildDevice) -> None:
    """Its output has ended, its exit status is not there yet."""
    await device.send("chat", "fall silent")
    assert [event async for event in device.events()] == []
    assert device.process is not None
    assert device.process.returncode is None
    with pytest.raises(DeviceError, match="has ended") as failed:
        await device.pair("4915")
    assert failed.value.before_sending


async def test_what_is_asked_while_the_process_ends_fails_at_once(device: ChildDevice) -> None:
    asked = [device.send("chat", "die"), device.pair("never answered")]
    async with asyncio.timeout(60):
        answered, failure = await asyncio.gather(*asked, return_exceptions=True)
    assert answered == "chatdieNone"
    assert isinstance(failure, DeviceError)
    assert not failure.before_sending


async def test_a_process_that_does_not_start_is_said_so(tmp_path: Path) -> None:
    devices = ChildDevices(tmp_path, ["/nonexistent/python", "x"])
    with pytest.raises(DeviceError, match="did not start"):
        await devices.open(1)


async def test_forgetting_removes_the_state_of_one_instance(tmp_path: Path) -> None:
    devices = ChildDevices(tmp_path)
    assert await devices.stored() == []
    for name in ("7.db", "7.db-wal", "77.db"):
        (tmp_path / name).write_text("x")
    assert await devices.stored() == [7, 77]
    await devices.forget(7)
    assert [path.name for path in sorted(tmp_path.glob("*"))] == ["77.db"]  # noqa: ASYNC240 - a test's files


MESSAGE = {
    "event": "message",
    "id": "3EB0",
    "chat": "49@s.whatsapp.net",
    "sender_ids": ["49"],
    "name": "Ann",
    "text": "Hi",
    "at": 1.5,
    "from_me": False,
    "is_group": False,
    "media": [{"name": "image", "mime_type": "image/png", "size": 3, "source": {"message": "b64"}}],
    "album": "",
}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"event": "linked"}, Linked()),
        ({"event": "logged_out", "reason": "401"}, LoggedOut("401")),
        ({"event": "dropped"}, Dropped("")),
        ({"event": "other"}, None),
    ],
)
def test_what_the_child_tells(said: dict[str, Any], expected: object) -> None:
    assert event_from(said) == expected


def test_a_message_of_the_child() -> None:
    event = event_from(MESSAGE)
    assert isinstance(event, Incoming)
    assert (event.id, event.sender_ids, event.at) == ("3EB0", ("49",), 1.5)
    assert event.media[0].source == {"message": "b64"}
