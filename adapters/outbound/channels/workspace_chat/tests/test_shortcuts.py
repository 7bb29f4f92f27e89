"""Global shortcuts find the direct messages of their person."""

import asyncio
import json

import pytest

from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from adapters.outbound.channels.workspace_chat import api
from adapters.outbound.channels.workspace_chat.channel import build
from adapters.outbound.channels.workspace_chat.config import CONFIG as MODEL
from domain.channels.messages import Event
from ports.http import HttpAnswer, HttpFailed, HttpRequest

from .samples import CONFIG, DIRECT, SETTING, event

ADDRESSES = {SETTING: "https://slack.com/api"}


class Silent(Scripted):
    """Never answers."""

    async def send(self, request: HttpRequest) -> HttpAnswer:
        await asyncio.Event().wait()
        raise AssertionError


async def placed(name: str, http: Scripted) -> Event:
    placer = build(dependencies(http, ADDRESSES)).placer
    assert placer is not None
    return await placer.placed(MODEL.load(CONFIG), event(name))


async def test_an_answer_goes_to_the_direct_messages_and_so_does_what_follows() -> None:
    found = await placed("shortcut", Scripted((), DIRECT))
    assert (found.session_id, found.target["channel"]) == ("D0ADA", "D0ADA")
    assert found.session_id == event("message_im").session_id


@pytest.mark.parametrize(
    "answer",
    [
        HttpFailed("connection refused", before_request=True),
        HttpAnswer(200, {}, json.dumps({"ok": False, "error": "missing_scope"}).encode()),
        HttpAnswer(200, {}, b'{"ok": true, "channel": []}'),
        HttpAnswer(429, {"retry-after": "7"}, b""),
    ],
)
async def test_without_slacks_help_the_person_is_written_to(answer: HttpAnswer | HttpFailed) -> None:
    assert await placed("shortcut", Scripted((), answer)) == event("shortcut")


async def test_the_acknowledgement_does_not_wait_for_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "OPEN_SECONDS", 0.01)
    assert await placed("shortcut", Silent((), DIRECT)) == event("shortcut")


@pytest.mark.parametrize(
    "name", ["message_im", "app_mention", "slash_command", "block_actions", "message_action"]
)
async def test_other_events_have_a_conversation(name: str) -> None:
    http = Scripted((), DIRECT)
    assert await placed(name, http) == event(name)
    assert http.requests == []
