"""The way of each chat platform through the whole service, as a person would walk it.

Set-up, a message, a long answer, a file each way, a tool that is approved, a call that is refused.
"""

import asyncio
import base64
import itertools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e.chats import CHATS, DISCORD, Chat, Written
from tests.support.folders import an_open_folder
from tests.support.platforms import discord
from tests.support.platforms.standin import Reply, Seen, StandIn
from tests.support.ports import free_port
from tests.support.service import Service

pytestmark = pytest.mark.processes

AGENT_URL = "https://agents.example"
SOON = 60.0
FIXTURES = Path(__file__).parents[2] / "adapters/outbound/channels/gaming_chat/fixtures"
FILES = {"plan.png": b"\x89PNG a plan", "plan.pdf": b"%PDF-1.7 a plan"}


class Agent(StandIn):
    """The resource: answers by what it is asked for, and keeps the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []

    def answer(self, seen: Seen) -> Reply:
        asked = seen.json
        self.asked.append(asked)
        if asked.get("approval"):
            return Reply(json={"text": f"It is {asked['approval']['decision']}."})
        answers: dict[str, Any] = {
            "files": {"text": "", "artifacts": [_artifact(*each) for each in FILES.items()]},
            "tool": {"text": "", "confirmation": {"tool": "ring", "parameters": {"times": 12}}},
        }
        if asked["text"].startswith("long "):
            return Reply(json={"text": long_text(int(asked["text"].split()[1]))})
        return Reply(json=answers.get(asked["text"], {"text": f"You said {asked['text']}"}))


def long_text(words: int) -> str:
    return " ".join(f"word{number}" for number in range(words))


def _artifact(name: str, content: bytes) -> dict[str, str]:
    mime_type = "image/png" if name.endswith("png") else "application/pdf"
    return {"name": name, "mimeType": mime_type, "dataBase64": base64.b64encode(content).decode()}


PORTS = {chat.channel_id: free_port() for chat in CHATS} | {"agent": free_port()}


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    settings = {"AGENT_URL": AGENT_URL, "DOWNSTREAM_URL": f"http://127.0.0.1:{PORTS['agent']}/run"}
    for chat in CHATS:
        address = f"http://127.0.0.1:{PORTS[chat.channel_id]}{chat.api}"
        settings |= dict.fromkeys(chat.settings, address)
    with an_open_folder() as folder, Service(folder / "data", settings=settings) as running:
        yield running


@dataclass
class Walk:
    """One platform under way."""

    service: Service
    chat: Chat
    platform: StandIn
    agent: Agent
    client: httpx.AsyncClient
    path: str = ""
    instance_id: int = 0
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    async def set_up(self, name: str = "walk") -> None:
        made = await asyncio.to_thread(
            self.service.create_instance,
            channelId=self.chat.channel_id,
            channelName=name,
            config=self.chat.config(self.platform.url),
            downStreamResourceId="agent::walker",
        )
        assert made["webhookError"] is None
        self.instance_id = made["instanceId"]
        self.path = f"/api/agent/channels/{self.chat.channel_id}/{self.instance_id}/webhook"

    async def leave(self) -> None:
        """Nothing of this walk is there in the next one: no connection to the platform either."""
        headers = {"Authorization": f"Bearer {self.service.key}"}
        address = f"{self.service.base}/api/agent/channel-instances/{self.instance_id}"
        assert (await self.client.delete(address, headers=headers)).status_code == 200

    async def say(self, text: str = "", *, forged: bool = False, **more: Any) -> int:
        """The status with which the platform's call was answered."""
        said = Written(next(self.numbers), text, **more)
        call = self.chat.called(said, self.platform, AGENT_URL + self.path)
        headers, body = dict(call.headers), call.body
        if forged and self.chat.forged_header:
            headers[self.chat.forged_header] = "v0=00"
        elif forged:
            body = body.replace(b"hooktoken", b"hooktokem")
        answer = await self.client.post(self.service.base + self.path, content=body, headers=headers)
        return answer.status_code

    async def eventually(self, found: Callable[[], Any]) -> Any:
        """What `found` gives once it is true."""
        async with asyncio.timeout(SOON):
            while not (value := found()):
                await asyncio.sleep(0.02)
            return value

    def shown(self, words: str) -> Callable[[], bool]:
        return lambda: any(words in each for each in self.chat.texts(self.platform))

    async def fetched(self, address: str) -> bytes:
        """What lies at an address that was handed out."""
        answer = await self.client.get(self.service.base + urlsplit(address).path)
        assert answer.status_code == 200, address
        return answer.content


@pytest.mark.parametrize("chat", CHATS, ids=lambda chat: chat.channel_id)
async def test_the_way_of_a_chat_platform(service: Service, chat: Chat) -> None:
    platform, agent = chat.standin(), Agent()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(platform.serve(PORTS[chat.channel_id]))
        await stack.enter_async_context(agent.serve(PORTS["agent"]))
        client = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
        walk = Walk(service, chat, platform, agent, client)
        await walk.set_up()
        await a_message(walk)
        await a_long_answer(walk)
        await files_both_ways(walk)
        await an_approval(walk)
        await walk.leave()
    assert platform.faults == []
    assert agent.faults == []


async def a_message(walk: Walk) -> None:
    assert await walk.say("forged", forged=True) == 401
    assert await walk.say("hello") == 200
    await walk.eventually(walk.shown("You said hello"))
    assert [each["text"] for each in walk.agent.asked] == ["hello"]
    assert len(walk.agent.asked[0]["requestId"]) == 36


async def a_long_answer(walk: Walk) -> None:
    before = len(walk.chat.texts(walk.platform))
    assert await walk.say(f"long {walk.chat.words}") == 200
    await walk.eventually(walk.shown(f"word{walk.chat.words - 1}"))
    parts = walk.chat.texts(walk.platform)[before:]
    assert len(parts) > 1
    assert re.findall(r"word\d+", " ".join(parts)) == long_text(walk.chat.words).split()


async def files_both_ways(walk: Walk) -> None:
    assert await walk.say("see", file=True) == 200
    await walk.eventually(walk.shown("You said see"))
    (file,) = walk.agent.asked[-1]["files"]
    assert (file["mimeType"], file["name"].endswith(".png")) == ("image/png", True)
    assert (await walk.fetched(file["url"])).endswith(b"picture")
    before = len(walk.chat.files(walk.platform))
    assert await walk.say("files") == 200
    await walk.eventually(lambda: len(walk.chat.files(walk.platform)) == before + len(FILES))
    given = walk.chat.files(walk.platform)[before:]
    contents = [each if isinstance(each, bytes) else await walk.fetched(each) for each in given]
    assert contents == list(FILES.values())


async def an_approval(walk: Walk) -> None:
    assert await walk.say("tool") == 200
    await walk.eventually(walk.shown("needs your approval"))
    pressed = [re.search(rb"approval:1:[\w-]+", each.body) for each in walk.platform.seen]
    choices = [found[0].decode() for found in pressed if found]
    assert await (walk.say(choice=choices[-1]) if choices else walk.say("yes")) == 200
    await walk.eventually(walk.shown("It is approved."))
    approval = walk.agent.asked[-1]["approval"]
    assert (approval["tool"], approval["decision"]) == ("ring", "approved")
    replaced = walk.chat.replaced
    if replaced is not None:
        assert choices
        await walk.eventually(lambda: replaced(walk.platform))
    assert json.dumps(walk.agent.asked).count('"decision"') == 1


async def test_a_direct_message_on_discord_comes_over_the_gateway(service: Service) -> None:
    platform, agent = discord.Discord(), Agent()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(platform.serve(PORTS["gaming-chat"]))
        await stack.enter_async_context(agent.serve(PORTS["agent"]))
        client = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
        walk = Walk(service, DISCORD, platform, agent, client)
        await walk.set_up("gateway")
        async with asyncio.timeout(SOON):
            while (await platform.gateway.heard.get())["op"] != 2:
                pass
        ready = {"session_id": "s1", "user": {"id": discord.APPLICATION}}
        platform.gateway.dispatch("READY", ready, 1)
        message = json.loads((FIXTURES / "message_dm.json").read_text())
        platform.gateway.dispatch("MESSAGE_CREATE", message.get("d", message), 2)
        (answer,) = await walk.eventually(lambda: platform.messages)
        assert answer["content"].startswith("You said ")
        assert len(agent.asked) == 1
        await walk.leave()
    assert platform.faults == []
