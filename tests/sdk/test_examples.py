"""The examples of other frameworks, as processes in environments of their own, with a stand-in for the model.

`make sdk-examples` makes the environments. A test whose environment is not there is skipped.
"""

import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.http_runner import HttpRunner
from domain.routing.model import Approval, RunResult
from tests.support.anthropic_server import AnthropicServer
from tests.support.model_server import Server, calling, text
from tests.support.plain_http import plain_request
from tests.support.ports import free_port
from tests.support.runs import a_request
from tests.support.servers import serving_apart
from tests.support.source_files import ROOT
from tests.support.waiting import until

SDK = ROOT / "sdk/python"
START_SECONDS = 120.0
"""Some frameworks import for long."""

Ask = Callable[..., Any]


@contextmanager
def example(name: str, environment: str, folder: Path, settings: dict[str, str]) -> Iterator[str]:
    """Runs an example; gives its address."""
    packages = ROOT / f".venv-sdk-{environment}"
    if not (packages / ".installed").exists():
        pytest.skip(f"`make sdk-examples` makes {packages.name}, in which {name}.py runs")
    port = free_port()
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(SDK),
        "AGENT_TOKEN": "s3cret",
        "PORT": str(port),
        "NO_PROXY": "127.0.0.1",
        **settings,
    }
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [packages / "bin/python", SDK / f"examples/{name}.py"],
            env=variables,
            cwd=folder,
            stdout=output,
            stderr=output,
        )
    base = f"http://127.0.0.1:{port}"
    try:
        until(lambda: is_up(base, process, log), f"{name} is up", seconds=START_SECONDS)
        yield base
    finally:
        print(log.read_text())
        process.terminate()
        process.wait(60)


def is_up(base: str, process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    try:
        return plain_request("GET", f"{base}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def openai(base: str) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "sk-none",
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }


@pytest.fixture
async def ask() -> AsyncIterator[Ask]:
    """Asks an agent as Switchboard does."""
    http = AioHttp(AddressPolicy())
    texts: list[str] = []

    async def ask_agent(base: str, text: str, **changes: Any) -> RunResult:
        request = a_request(
            request_id=str(uuid4()), text=text, progress=lambda t: texts.append(t()), **changes
        )
        return await HttpRunner(http, base, "s3cret").run(request)

    yield ask_agent
    await http.close()


async def test_openai_agents(ask: Ask, tmp_path: Path) -> None:
    model = Server(
        calling("opening_hours", arguments='{"day": "Monday"}'), text("From nine."), text("You said hello.")
    )
    with serving_apart(model.handle) as url, example("openai_agents", "light", tmp_path, openai(url)) as base:
        assert await ask(base, "When on Monday?") == RunResult("From nine.")
        assert await ask(base, "And what did I ask?") == RunResult("You said hello.")
    assert model.asked[0]["stream"] is True
    contents = [str(message.get("content")) for message in model.messages]
    assert "When on Monday?" in contents
    assert "nine to five" in contents


async def test_langgraph(ask: Ask, tmp_path: Path) -> None:
    model = Server(text("Hello Ada."), text("You said hello."))
    with (
        serving_apart(model.handle) as url,
        example("langgraph_agent", "light", tmp_path, openai(url)) as base,
    ):
        assert await ask(base, "Hello") == RunResult("Hello Ada.")
        assert await ask(base, "What did I say?") == RunResult("You said hello.")
    assert model.asked[0]["stream"] is True
    assert [message["content"] for message in model.messages] == ["Hello", "Hello Ada.", "What did I say?"]


@pytest.mark.parametrize(
    ("decision", "told"), [("approved", "Order 7 is cancelled."), ("rejected", "denied")]
)
async def test_pydantic_ai(ask: Ask, tmp_path: Path, decision: str, told: str) -> None:
    model = Server(calling("cancel_order", arguments='{"number": 7}'), text("Done."))
    with (
        serving_apart(model.handle) as url,
        example("pydantic_agent", "light", tmp_path, openai(url)) as base,
    ):
        asked = await ask(base, "Cancel order 7")
        assert (asked.confirmation.tool, asked.confirmation.parameters) == ("cancel_order", {"number": 7})
        approval = Approval("c1", "cancel_order", decision)
        assert await ask(base, "Cancel order 7", approval=approval) == RunResult("Done.")
    assert told in str(model.messages[-1])


async def test_crewai(ask: Ask, tmp_path: Path) -> None:
    model = Server(text("Hello Ada."))
    settings = openai("") | {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}
    with serving_apart(model.handle) as url:
        settings |= openai(url)
        with example("crewai_agent", "crewai", tmp_path, settings) as base:
            assert await ask(base, "Hello") == RunResult("Hello Ada.")
    assert "Hello" in str(model.messages[-1])


async def test_claude_agent(ask: Ask, tmp_path: Path) -> None:
    model = AnthropicServer("Hello Ada.")
    with serving_apart(model.handle) as url:
        settings = {
            "ANTHROPIC_API_KEY": "sk-none",
            "ANTHROPIC_BASE_URL": url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        with example("claude_agent", "claude", tmp_path, settings) as base:
            assert await ask(base, "Hello") == RunResult("Hello Ada.")
    assert "Hello" in str(model.asked[-1]["messages"])
