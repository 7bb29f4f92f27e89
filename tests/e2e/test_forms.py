"""A form on each platform that shows one in its own way, with a kill of the service between question and answer."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
from twilio.request_validator import RequestValidator

from domain.channels.messages import RawCall
from tests.drivers.groups import GROUPS, Group
from tests.support.folders import an_open_folder
from tests.support.platforms import twilio
from tests.support.platforms.standin import Reply, Seen, StandIn
from tests.support.ports import free_port
from tests.support.service import Service

pytestmark = pytest.mark.processes

AGENT_URL = "https://agents.example"
SOON = 60.0
PLATFORMS = ("Slack", "Discord", "Teams", "WhatsApp", "SMS")
PORTS = {platform: free_port() for platform in PLATFORMS} | {"agent": free_port()}
SIZES = [{"label": "Small", "value": "s"}, {"label": "Large", "value": "l"}]
FORM = {
    "name": "order",
    "title": "Your order",
    "fields": [
        {"name": "count", "label": "How many?", "type": "number", "required": True, "min": 1, "max": 9},
        {"name": "mail", "label": "Mail", "type": "email", "required": True},
        {"name": "day", "label": "Day", "type": "date", "required": True},
        {"name": "size", "label": "Size", "type": "choice", "required": True, "options": SIZES},
        {"name": "remark", "label": "Remark", "max": 20},
    ],
}
VALUES = {"count": 3, "mail": "ada@example.org", "day": "2026-12-31", "size": "l", "remark": "soon"}
ENTERED = {**VALUES, "count": "3"}
UNFIT = {**ENTERED, "mail": "ada"}


class Agent(StandIn):
    """Answers "order" with a form, and keeps the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []

    def answer(self, seen: Seen) -> Reply:
        self.asked.append(seen.json)
        is_order = seen.json["text"] == "order"
        return Reply(json={"form": FORM} if is_order else {"text": f"Heard {seen.json['text']}"})


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    settings = {"AGENT_URL": AGENT_URL, "DOWNSTREAM_URL": f"http://127.0.0.1:{PORTS['agent']}/run"}
    for platform in PLATFORMS:
        group, _ = GROUPS[platform]
        settings |= dict.fromkeys(group.settings, f"http://127.0.0.1:{PORTS[platform]}{group.api}")
    with an_open_folder() as folder, Service(folder / "data", settings=settings) as running:
        yield running


@dataclass
class Walk:
    """A person alone with the bot on a platform. `replies` are the bodies with which calls were answered."""

    service: Service
    group: Group
    platform: StandIn
    agent: Agent
    client: httpx.AsyncClient
    path: str = ""
    replies: list[str] = field(default_factory=list)

    async def set_up(self) -> None:
        self.group.direct = True
        made = await asyncio.to_thread(
            self.service.create_instance,
            channelId=self.group.channel_id,
            channelName="forms",
            config=self.group.configured(),
            downStreamResourceId="agent::forms",
        )
        self.path = f"/api/agent/channels/{self.group.channel_id}/{made['instanceId']}/webhook"

    async def post(self, call: RawCall) -> None:
        headers = dict(call.headers)
        if self.group.channel_id == "sms-provider":
            fields = dict(parse_qsl(call.body.decode(), keep_blank_values=True))
            validator = RequestValidator(twilio.TOKEN)
            headers["X-Twilio-Signature"] = validator.compute_signature(AGENT_URL + self.path, fields)
        answer = await self.client.post(self.service.base + self.path, content=call.body, headers=headers)
        assert answer.status_code in (200, 202), answer.text
        self.replies.append(answer.text)

    async def write(self, text: str) -> None:
        await self.post(self.group.write("ada", text, datetime.now(UTC)))

    async def crash(self) -> None:
        await asyncio.to_thread(self.service.kill_everything)
        await asyncio.to_thread(self.service.start)

    async def eventually(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(SOON):
            while not condition():
                await asyncio.sleep(0.02)

    def said(self, words: str) -> int:
        """How often the platform was sent, or answered with, these words."""
        bodies = [
            json.dumps(dict(parse_qsl(seen.body.decode("utf-8", "replace")))) + seen.body.decode()
            for seen in self.platform.seen
        ]
        return sum(words in body.replace("\\", "") for body in [*bodies, *self.replies])

    @property
    def forms(self) -> list[dict[str, Any]]:
        return [asked["form"] for asked in self.agent.asked if asked.get("form")]


async def opened(walk: Walk) -> None:
    """The dialog, where the form is not a card."""
    await walk.eventually(walk.group.questions)
    dialogs, questions = walk.said('"How many?"'), walk.group.questions()
    if button := questions[-1].get("Open form"):
        await walk.post(walk.group.press("ada", len(questions) - 1, button, datetime.now(UTC)))
        await walk.eventually(lambda: walk.said('"How many?"') > dialogs)


async def filled_in_at_once(walk: Walk) -> None:
    await opened(walk)
    await walk.post(walk.group.fill_in("ada", UNFIT, datetime.now(UTC)))
    await walk.eventually(lambda: walk.said("not a mail address"))
    await walk.crash()
    await opened(walk)
    sent = walk.group.fill_in("ada", ENTERED, datetime.now(UTC))
    await walk.post(sent)
    await walk.post(sent)


async def asked(walk: Walk, question: str) -> None:
    await walk.eventually(lambda: walk.said(question))


async def filled_in_by_messages(walk: Walk) -> None:
    await walk.eventually(lambda: walk.said("How many?"))
    await walk.write("many")
    await walk.eventually(lambda: walk.said("not a number"))
    await walk.crash()
    await walk.write("3")
    for question, text in (("Mail", "ada@example.org"), ("Day", "31.12.2026"), ("Size", "Large")):
        await asked(walk, question)
        await walk.write(text)
    await walk.eventually(lambda: walk.said("Remark"))
    last = walk.group.write("ada", "soon", datetime.now(UTC))
    await walk.post(last)
    await walk.post(last)


@pytest.mark.parametrize("name", PLATFORMS)
async def test_a_form_outlives_a_kill_and_counts_once(service: Service, name: str) -> None:
    group, standin = GROUPS[name]
    platform, agent = standin(), Agent()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(platform.serve(PORTS[name]))
        await stack.enter_async_context(agent.serve(PORTS["agent"]))
        client = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
        walk = Walk(service, group(platform), platform, agent, client)
        await walk.set_up()
        await walk.write("order")
        by_messages = name in ("WhatsApp", "SMS")
        await (filled_in_by_messages(walk) if by_messages else filled_in_at_once(walk))
        await walk.eventually(lambda: walk.forms)
        await walk.write("thanks")
        await walk.eventually(lambda: walk.said("Heard thanks"))
        assert walk.forms == [{"name": "order", "values": VALUES}]
    assert platform.faults == []
    assert agent.faults == []
