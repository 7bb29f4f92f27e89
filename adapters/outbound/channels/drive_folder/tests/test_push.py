"""Push notifications: who may call, and that Google is asked for them, kept at it and stopped."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.drive_folder import push
from adapters.outbound.channels.drive_folder.channel import build
from adapters.outbound.channels.drive_folder.config import CONFIG as MODEL
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, SetClock, call, client, dependencies
from domain.channels.messages import RawCall
from domain.refusals import NotFound, Refusal, Unauthenticated
from ports.capabilities import PlatformError
from tests.support.platforms.drive import CLIENT, FOLDER, Drive, error

CONFIG: dict[str, Any] = {**CLIENT, "folderId": FOLDER}
ADDRESS = "https://switchboard.example/api/agent/channels/drive-folder/7/webhook"


@pytest.fixture
async def drive() -> AsyncIterator[Drive]:
    async with Drive.run() as platform:
        yield platform


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def processes(drive: Drive, clock: SetClock) -> AsyncIterator[Callable[[], ChannelCalls]]:
    """Builds the channel as another process does."""
    addresses = {"DRIVE_FOLDER_API_URL": drive.url, "GOOGLE_TOKEN_URL": f"{drive.url}/token"}
    async with client() as http:
        yield lambda: ChannelCalls(build(dependencies(http, addresses, clock=clock)))


@pytest.fixture
def channel(processes: Callable[[], ChannelCalls]) -> ChannelCalls:
    return processes()


def notification(state: str = "change", **changes: str) -> RawCall:
    """A call as Google makes it: no body, all in headers."""
    asked = push.channel(MODEL.load(CONFIG), ADDRESS, NOW)
    headers = {
        "X-Goog-Channel-ID": asked["id"],
        "X-Goog-Channel-Token": asked["token"],
        "X-Goog-Channel-Expiration": "Fri, 20 Nov 2026 14:00:00 GMT",
        "X-Goog-Resource-ID": "resource-1",
        "X-Goog-Resource-State": state,
        "X-Goog-Message-Number": "2",
        **{name.replace("_", "-"): value for name, value in changes.items()},
    }
    return call(headers=headers)


# --- who may call


def test_the_first_notification_is_only_acknowledged() -> None:
    received = push.receive(MODEL.load(CONFIG), notification("sync"), {}, NOW)
    assert (received.kind, received.events, received.answer.status) == ("sync", (), 200)


@pytest.mark.parametrize("state", ["change", "update", "add", "trash", ""])
def test_any_other_notification_asks_for_a_poll(state: str) -> None:
    received = push.receive(MODEL.load(CONFIG), notification(state), {}, NOW)
    assert (received.kind, received.events, received.answer.status) == ("poll", (), 200)


@pytest.mark.parametrize(
    "changes",
    [
        {"X_Goog_Channel_Token": "wrong"},
        {"X_Goog_Channel_Token": ""},
        {"X_Goog_Channel_ID": "another channel"},
        {"X_Goog_Channel_ID": ""},
        {"X_Goog_Channel_Token": "\N{SNOWMAN}"},
    ],
)
def test_another_token_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(Unauthenticated):
        push.receive(MODEL.load(CONFIG), notification(**changes), {}, NOW)


def test_the_token_of_another_instance_is_refused() -> None:
    with pytest.raises(Unauthenticated):
        push.receive(MODEL.load({**CONFIG, "refreshToken": "1//another"}), notification(), {}, NOW)


def test_a_call_without_headers_is_refused() -> None:
    with pytest.raises(Unauthenticated):
        push.receive(MODEL.load(CONFIG), call(), {}, NOW)
    with pytest.raises(NotFound):
        push.receive(MODEL.load(CONFIG), call(callback="other"), {}, NOW)


@given(
    st.dictionaries(
        st.sampled_from(["x-goog-channel-id", "x-goog-channel-token", "x-goog-resource-state"]), st.text()
    )
)
def test_any_headers_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(Refusal):
        push.receive(MODEL.load(CONFIG), call(headers=headers), {}, NOW)


# --- asking for them


async def test_google_is_asked_to_call(channel: ChannelCalls, drive: Drive) -> None:
    await channel.register(CONFIG, ADDRESS, {})
    (asked,) = drive.watching.values()
    assert asked["address"] == ADDRESS
    assert NOW.timestamp() + 3600 < int(asked["expiration"]) / 1000 <= NOW.timestamp() + 7200
    assert CLIENT["refreshToken"] not in str(asked)
    assert await channel.registered(CONFIG, ADDRESS) is False


async def test_asking_twice_makes_one_channel(channel: ChannelCalls, drive: Drive) -> None:
    await channel.register(CONFIG, ADDRESS, {})
    await channel.register(CONFIG, ADDRESS, {})
    assert len(drive.watching) == 1


async def test_a_new_channel_takes_over_before_the_old_one_ends(
    channel: ChannelCalls, drive: Drive, clock: SetClock
) -> None:
    await channel.register(CONFIG, ADDRESS, {})
    clock.advance(3600)
    await channel.register(CONFIG, ADDRESS, {})
    assert len(drive.watching) == 2


async def test_the_configured_address_wins(channel: ChannelCalls, drive: Drive) -> None:
    await channel.register({**CONFIG, "webhookUrl": "https://proxy.example/drive"}, ADDRESS, {})
    assert [each["address"] for each in drive.watching.values()] == ["https://proxy.example/drive"]


@pytest.mark.parametrize(
    "address",
    [
        "http://switchboard.example/x",
        "https://localhost/x",
        "https://10.0.0.1/x",
        "https://[::1]/x",
        "https://[",
        "",
        "x",
    ],
)
async def test_where_google_cannot_call_only_the_credentials_are_tried(
    channel: ChannelCalls, drive: Drive, address: str
) -> None:
    await channel.register(CONFIG, address, {})
    assert drive.watching == {}
    assert await channel.registered(CONFIG, address) is True
    with pytest.raises(PlatformError, match="invalid_grant"):
        await channel.register({**CONFIG, "refreshToken": "wrong"}, address, {})


async def test_a_refusal_is_passed_on_in_googles_words(channel: ChannelCalls, drive: Drive) -> None:
    drive.next_reply(200, {"access_token": "ya29.0", "expires_in": 3599})
    drive.tokens.add("ya29.0")
    drive.next_reply(200, {"startPageToken": "77"})
    drive.next_reply(
        401, error(401, "Unauthorized WebHook callback channel", "push.webhookUrlUnauthorized").json
    )
    drive.next_reply(200, {"access_token": "ya29.0", "expires_in": 3599})
    drive.next_reply(
        401, error(401, "Unauthorized WebHook callback channel", "push.webhookUrlUnauthorized").json
    )
    with pytest.raises(PlatformError, match="Unauthorized WebHook"):
        await channel.register(CONFIG, ADDRESS, {})


async def test_channels_are_stopped_by_any_process(
    channel: ChannelCalls, drive: Drive, clock: SetClock, processes: Callable[[], ChannelCalls]
) -> None:
    kept = await channel.register(CONFIG, ADDRESS, {})
    clock.advance(3600)
    kept = await channel.register(CONFIG, ADDRESS, json.loads(json.dumps(kept)))
    assert await channel.register(CONFIG, ADDRESS, kept) == kept
    other = processes()
    await other.unregister(CONFIG, kept)
    assert drive.watching == {}
    assert len(drive.stopped) == 2
    await other.unregister(CONFIG, kept)


async def test_channels_that_have_ended_are_not_kept(
    channel: ChannelCalls, drive: Drive, clock: SetClock
) -> None:
    kept: Mapping[str, Any] = {}
    for _ in range(4):
        kept = await channel.register(CONFIG, ADDRESS, kept)
        clock.advance(3600)
    assert list(push.channels_of(kept)) == list(drive.watching)[-2:]


async def test_a_stop_that_fails_is_said_and_the_others_are_stopped(
    channel: ChannelCalls, drive: Drive, clock: SetClock
) -> None:
    kept = await channel.register(CONFIG, ADDRESS, {})
    clock.advance(3600)
    kept = await channel.register(CONFIG, ADDRESS, kept)
    drive.next_reply(500)
    with pytest.raises(PlatformError):
        await channel.unregister(CONFIG, kept)
    assert len(drive.watching) == 1


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("refreshToken", "another", True),
        ("folderId", "another", True),
        ("webhookUrl", "https://proxy.example/drive", True),
        ("fileTypes", "pdf", False),
        ("checkInterval", 3, False),
    ],
)
async def test_what_leaves_channels_behind(
    channel: ChannelCalls, name: str, value: Any, expected: bool
) -> None:
    assert channel.supersedes(CONFIG, {**CONFIG, name: value}) is expected
