"""Agents of the SDK behind Switchboard, over real sockets: its runner of `http` resources, and the whole service."""

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from aiohttp import web
from switchboard_sdk import Agent, Confirmation, Field, File, Form, Message, TryLater

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.http_runner import HttpRunner
from domain.routing.model import Approval, InputFile, QuotedMessage, RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.support.agents import serving_agent
from tests.support.plain_http import plain_request
from tests.support.ports import free_port
from tests.support.runs import a_request
from tests.support.servers import serving
from tests.support.service import ROOT, Service
from tests.support.waiting import until

Run = Callable[[RunRequest], Any]

agent = Agent(token="s3cret")


def new_request(resource: str = "agent::helper_1", **changes: Any) -> RunRequest:
    """Another one than all before: the agent remembers its answers."""
    return a_request(resource, request_id=str(uuid4()), **changes)


seen: list[Message] = []
shown = threading.Event()


@agent.message
async def answer(message: Message) -> AsyncIterator[Any]:
    seen.append(message)
    if message.form:
        yield f"Ordered: {message.form.values['size']}"
    elif "order" in message.text:
        yield Form("Order", [Field("size", "Size", required=True)], name="order")
    elif "delete" in message.text and not message.allows("delete_notes"):
        yield "They stay." if message.rejects("delete_notes") else Confirmation("delete_notes", {"days": 30})
    elif "delete" in message.text:
        yield "Deleted."
    elif message.files:
        content = await message.files[0].read()
        yield File("upper.txt", content.upper())
    elif "busy" in message.text:
        raise TryLater(3)
    else:
        yield "It is "
        await asyncio.to_thread(shown.wait, 60)
        yield "**noon**."


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving_agent(agent) as base:
        yield base


@pytest.fixture
async def run(address: str) -> AsyncIterator[Run]:
    seen.clear()
    http = AioHttp(AddressPolicy())
    yield HttpRunner(http, f"{address}/run", "s3cret").run
    await http.close()


async def test_the_answer_is_shown_while_it_is_made(run: Run) -> None:
    texts: list[str] = []

    def progress(text: Callable[[], str]) -> None:
        texts.append(text())
        shown.set()

    assert await run(replace(new_request(), progress=progress)) == RunResult("It is **noon**.")
    assert texts[0] == "It is "


async def test_the_message_arrives_with_its_types(run: Run) -> None:
    quoted = QuotedMessage("It was ten.", "Bob", (InputFile("a.txt", "text/plain", 1, "http://x.example/a"),))
    request = new_request("workflow::w", text="order", quoted=quoted, context={"language": "en"}, choice=True)
    result = await run(replace(request, approved_tools=("search",)))
    assert result.rich.form.fields[0].name == "size"
    [message] = seen
    assert (message.resource.kind, message.resource.expert_index) == ("workflow", None)
    assert (message.sender.display_name, message.session_id) == ("Ada", "4711")
    assert message.quoted is not None
    assert (message.quoted.author, message.quoted.files[0].name) == ("Bob", "a.txt")
    assert (message.choice, message.context, message.approved_tools) == (
        True,
        {"language": "en"},
        ("search",),
    )
    assert (await run(new_request(form={"values": {"size": "s"}}))).text == "Ordered: s"


async def test_files_come_in_and_go_out(run: Run) -> None:
    async def download(_: web.Request) -> web.Response:
        return web.Response(body=b"quiet")

    async with serving(download) as base:
        file = InputFile("quiet.txt", "text/plain", 5, f"{base}/quiet.txt")
        result = await run(new_request(files=(file,)))
        with pytest.raises(ValueError, match="over 4 bytes"):
            await seen[0].files[0].read(max_bytes=4)
        assert await asyncio.to_thread(seen[0].files[0].read_blocking) == b"quiet"
    assert [(each.name, each.mime_type, each.data) for each in result.artifacts] == [
        ("upper.txt", "text/plain", b"QUIET")
    ]


async def test_a_tool_is_asked_for_and_decided(run: Run) -> None:
    request = new_request(text="delete them")
    assert (await run(request)).confirmation.tool == "delete_notes"
    for number, (decision, text) in enumerate(
        [("approved", "Deleted."), ("approved_for_session", "Deleted."), ("rejected", "They stay.")]
    ):
        decided = replace(request, request_id=f"d{number}", approval=Approval("c1", "delete_notes", decision))
        assert (await run(decided)).text == text


async def test_refusals_are_told_and_tried_again_by_their_status(run: Run, address: str) -> None:
    with pytest.raises(DownstreamFailed) as busy:
        await run(new_request(text="busy"))
    assert (busy.value.retryable, busy.value.retry_after) == (True, 3)
    http = AioHttp(AddressPolicy())
    with pytest.raises(DownstreamFailed, match="401") as refused:
        await HttpRunner(http, address, "wrong").run(new_request())
    await http.close()
    assert not refused.value.retryable


def readme_example(language: str) -> str:
    """The block of code in the README that is about an agent of one's own."""
    section = (ROOT / "README.md").read_text("utf-8").partition("## Your own agent\n")[2]
    block = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert block is not None
    return block[1]


@pytest.fixture
def readme_agent(tmp_path: Path) -> Iterator[str]:
    """The agent of the README as a process of its own; its address."""
    code = readme_example("python")
    assert len(code.splitlines()) < 15
    port = free_port()
    path = tmp_path / "agent.py"
    path.write_text(code.replace("port=8000", f"port={port}"), "utf-8")
    environment = {"PYTHONPATH": str(ROOT / "sdk/python"), "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen([sys.executable, path], env=environment, cwd=tmp_path)
    base = f"http://127.0.0.1:{port}"
    try:
        until(lambda: is_up(base), "the agent of the README is up", seconds=60)
        yield base
    finally:
        process.terminate()
        process.wait(30)


def is_up(base: str) -> bool:
    try:
        return plain_request("GET", f"{base}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def instance_of(client: httpx.Client, resource: str) -> Callable[[str], str]:
    """A new webhook that is bound to the resource; asks it."""
    new = {"channelId": "http-webhook", "channelName": resource, "config": {"syncResponse": True}}
    made = client.post("/api/agent/channel-instances", json={**new, "downStreamResourceId": resource})
    assert made.status_code == 201, made.text
    hook = f"/api/agent/channels/http-webhook/{made.json()['instanceId']}/webhook"

    def ask(text: str) -> str:
        answer = client.post(hook, json={"message": text, "sessionId": "1"})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["response"])

    return ask


@pytest.mark.processes
def test_the_agent_of_the_readme_answers_behind_the_service(
    open_folder: Path, readme_agent: str, address: str
) -> None:
    body = re.search(r"-d '(.*)'", readme_example("sh"))
    assert body is not None
    mine = json.loads(body[1].replace("http://127.0.0.1:8000", readme_agent))
    asking = {"name": "Asking", "kind": "http", "settings": {"url": address}, "secret": "s3cret"}
    with Service(open_folder / "data") as service, service.client() as client:
        for new in (mine, asking):
            stored = client.post("/api/agent/agents", json=new)
            assert stored.status_code == 201, stored.text
        assert instance_of(client, "agent::mine")("how are you").startswith("Hello")
        ask = instance_of(client, "agent::asking")
        assert "delete_notes" in ask("delete the notes")
        assert ask("yes") == "Deleted."
