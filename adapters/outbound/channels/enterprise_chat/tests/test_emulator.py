"""An emulator on the developer's machine: no app, no tokens, plain HTTP, and only with its setting."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.channels.enterprise_chat.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, call, client, dependencies
from domain.channels.answers import Answer, ClosedPrompt
from domain.channels.messages import Outcome, Target
from ports.capabilities import PlatformError
from tests.support.platforms.teams import Teams

from .answering import BOT, CHOICES, deliver

ACTIVITY = json.loads((Path(__file__).parents[1] / "fixtures" / "message_personal.json").read_text())
PUBLIC = {
    "ENTERPRISE_CHAT_LOGIN_URL": "https://login.microsoftonline.com",
    "ENTERPRISE_CHAT_OPENID_URL": "https://login.botframework.com/v1/.well-known/openidconfiguration",
}


@pytest.fixture
def setting() -> str:
    return "on"


@pytest.fixture
async def channel(teams: Teams, setting: str) -> AsyncIterator[ChannelCalls]:
    teams.is_emulator = True
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, {**PUBLIC, "ENTERPRISE_CHAT_EMULATOR": setting})))


def received(channel: ChannelCalls, service_url: str, config: dict[str, Any] | None = None) -> Target:
    """The target of a message that came without a token."""
    activity = {**ACTIVITY, "serviceUrl": service_url}
    (event,) = channel.receive(config or {}, call(as_json=activity), {}, NOW).events
    return event.target


async def test_is_answered_without_a_token(channel: ChannelCalls, teams: Teams) -> None:
    target = received(channel, f"{teams.url}/")
    (sent,) = await deliver(channel, {}, target, Answer("**Yes**"))
    assert sent.outcome is Outcome.SENT
    ((_, activity),) = teams.replies
    assert activity["text"] == "**Yes**"
    assert teams.tokens == 0
    await channel.typing({}, target)
    assert len(teams.typing) == 1
    await channel.probe({})


@pytest.mark.parametrize(("setting", "advised"), [("on", False), ("", True)])
async def test_nothing_is_advised_that_an_emulator_does_not_need(
    channel: ChannelCalls, advised: bool
) -> None:
    assert bool(channel.definition.advice) is advised


async def test_its_prompts_are_cards_that_are_replaced(channel: ChannelCalls, teams: Teams) -> None:
    target = received(channel, teams.url)
    (sent,) = await deliver(channel, {}, target, Answer("Delete it?", choices=CHOICES))
    await channel.close_prompt({}, {**target, "prompt": sent.ref}, ClosedPrompt("Approved", "Approved", ""))
    assert "Approved" in json.dumps(teams.activities[sent.ref])


@pytest.mark.parametrize(
    "url",
    ["http://10.0.0.7:56150/", "http://emulator.example/", "http://localhost.evil.example/", "http://[::2]/"],
)
async def test_must_be_on_this_machine(channel: ChannelCalls, url: str) -> None:
    target = received(channel, url)
    (sent,) = await deliver(channel, {}, target, Answer("hi"))
    assert (sent.outcome, "emulator" in target) == (Outcome.PERMANENT, False)
    (forged,) = await deliver(channel, {}, {**target, "emulator": True}, Answer("hi"))
    assert forged.outcome is Outcome.PERMANENT


@pytest.mark.parametrize(
    "url", ["http://localhost:56150/_connector", "http://127.0.0.1:1/", "http://[::1]:5000/"]
)
async def test_this_machine_has_several_names(channel: ChannelCalls, url: str) -> None:
    assert received(channel, url)["emulator"] is True


async def test_an_app_is_never_answered_without_its_token(channel: ChannelCalls, teams: Teams) -> None:
    target = {**received(channel, teams.url), "emulator": True}
    (sent,) = await deliver(channel, BOT, target, Answer("hi"))
    assert sent.outcome is Outcome.PERMANENT
    assert "ENTERPRISE_CHAT_EMULATOR" in sent.detail
    assert teams.replies == []


@pytest.mark.parametrize("setting", [""])
async def test_without_the_setting_nothing_is_sent(channel: ChannelCalls, teams: Teams) -> None:
    target = received(channel, teams.url)
    assert "emulator" not in target
    for each in (target, {**target, "emulator": True}):
        (sent,) = await deliver(channel, {}, each, Answer("hi"))
        assert sent.outcome is Outcome.PERMANENT
    assert teams.replies == []
    with pytest.raises(PlatformError):
        await channel.probe({})
