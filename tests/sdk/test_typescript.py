"""The SDK for TypeScript: its types, its own tests, and its programs under Node against a whole service."""

import asyncio
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import httpx
import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.http_runner import HttpRunner
from domain.routing.model import Approval, InputFile, RunResult
from ports.resources import DownstreamFailed
from tests.support.folders import an_open_folder
from tests.support.receiver import Receiver
from tests.support.runs import a_request
from tests.support.servers import serving
from tests.support.service import ROOT, Service
from tests.support.waiting import until

SDK = ROOT / "sdk/typescript"
NODE = shutil.which("node")
NPM = shutil.which("npm")


def npm(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(NPM), *arguments], cwd=SDK, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the SDK with its tools, compiled."""
    if NODE is None or NPM is None:
        pytest.skip("Node.js is not installed")
    if not (SDK / "node_modules/.package-lock.json").exists():
        made = npm("ci", "--ignore-scripts", "--no-audit", "--no-fund")
        if made.returncode:
            pytest.skip(
                f"sdk/typescript/node_modules is missing, and npm could not install it: {made.stderr[-500:]}"
            )
    made = npm("run", "build")
    assert made.returncode == 0, made.stdout
    return SDK


def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("typescript_generate", SDK / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_types_are_those_of_the_description(built: Path) -> None:
    assert generate().types() == (built / "src/types.ts").read_text("utf-8"), "run: make sdk"


def test_the_code_of_its_readme_has_the_right_types(built: Path) -> None:
    folder = built / "dist/readme"
    folder.mkdir(exist_ok=True)
    blocks = re.findall(r"```ts\n(.*?)```", (built / "README.md").read_text("utf-8"), re.DOTALL)
    for number, block in enumerate(blocks):
        (folder / f"{number}.ts").write_text(block, "utf-8")
    files = [f"dist/readme/{number}.ts" for number in range(len(blocks))]
    options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--types", "node"]
    checked = npm("exec", "--offline", "--", "tsc", *options, *files)
    assert (checked.returncode, len(blocks)) == (0, 4), checked.stdout


def test_its_own_tests_pass(built: Path) -> None:
    done = npm("test")
    assert done.returncode == 0, done.stdout[-5000:]
    assert "# fail 0" in done.stdout


@contextmanager
def program(path: Path, output: Path, *arguments: str, **settings: str) -> Iterator[Callable[[], list[str]]]:
    """Runs a program of Node's until the block ends; gives what reads the lines that it has printed."""
    kept = {"PATH": os.environ["PATH"], **settings}
    with output.open("wb") as log:
        command = [str(NODE), str(path), *arguments]
        process = subprocess.Popen(command, env=kept, stdout=log, stderr=subprocess.STDOUT)

    def lines() -> list[str]:
        text = output.read_text("utf-8")
        assert process.poll() is None, f"it ended with {process.returncode}: {text}"
        return text.splitlines()

    try:
        yield lines
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture(scope="module")
def agent(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The agent of the examples; its address."""
    output = tmp_path_factory.mktemp("agent") / "output"
    with program(built / "examples/agent.mjs", output, PORT="0", AGENT_TOKEN="s3cret") as lines:
        until(lambda: bool(lines()), "the agent listens", seconds=60)
        yield f"http://127.0.0.1:{lines()[0].removeprefix('listening on ')}"


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    made = AioHttp(AddressPolicy())
    yield made
    await made.close()


async def test_an_agent_streams_and_exchanges_files(agent: str, http: AioHttp) -> None:
    shown = asyncio.Event()
    texts: list[str] = []

    async def download(_: web.Request) -> web.Response:
        await asyncio.wait_for(shown.wait(), 60)  # the file comes once the first piece is shown
        return web.Response(body=b"quiet")

    def progress(text: Callable[[], str]) -> None:
        texts.append(text())
        shown.set()

    async with serving(download) as base:
        file = InputFile("quiet.txt", "text/plain", 5, f"{base}/quiet.txt")
        request = a_request(request_id=str(uuid4()), files=(file,))
        result = await HttpRunner(http, agent, "s3cret").run(replace(request, progress=progress))
    assert (texts[0], result.text) == ("Reading… ", "Reading… 5 bytes.")
    assert [(each.name, each.mime_type, each.data) for each in result.artifacts] == [
        ("copy.txt", "text/plain", b"quiet")
    ]


async def test_an_agent_is_told_decisions_and_refuses_strangers(agent: str, http: AioHttp) -> None:
    request = a_request(request_id=str(uuid4()), text="delete them")
    run = HttpRunner(http, agent, "s3cret").run
    asked = await run(request)
    assert asked.confirmation is not None
    assert (asked.confirmation.tool, asked.confirmation.parameters) == ("delete_notes", {"olderThanDays": 30})
    decided = replace(request, request_id=str(uuid4()), approval=Approval("c1", "delete_notes", "rejected"))
    assert await run(decided) == RunResult("Then they stay.")
    with pytest.raises(DownstreamFailed, match="401"):
        await HttpRunner(http, agent, "wrong").run(request)


@pytest.fixture(scope="module")
def service(built: Path) -> Iterator[Service]:
    with an_open_folder() as folder, Service(folder / "data") as made:
        yield made


def instance_of(client: httpx.Client, resource: str, name: str) -> str:
    """A new webhook that is bound to the resource; the path of its callback."""
    new = {"channelId": "http-webhook", "channelName": name, "config": {"syncResponse": True}}
    made = client.post("/api/agent/channel-instances", json={**new, "downStreamResourceId": resource})
    assert made.status_code == 201, made.text
    return f"/api/agent/channels/http-webhook/{made.json()['instanceId']}/webhook"


@pytest.mark.processes
def test_an_agent_answers_behind_the_service(service: Service, agent: str) -> None:
    new = {"name": "Mine", "kind": "http", "settings": {"url": agent}, "secret": "s3cret"}
    with service.client() as client:
        assert client.post("/api/agent/agents", json=new).status_code == 201
        hook = instance_of(client, "agent::mine", "Mine")

        def ask(text: str, **fields: Any) -> Any:
            answer = client.post(hook, json={"message": text, "sessionId": "1", **fields})
            assert answer.status_code == 200, answer.text
            return answer.json()

        assert ask("how are you")["response"].strip() == "how are you"
        assert "delete_notes" in ask("delete the notes")["response"]
        assert ask("yes")["response"] == "The notes are deleted."
        form = ask("I want to order")["form"]
        assert form["fields"][0]["label"] == "Size"
        filled_in = {"reference": form["reference"], "values": {"size": "large"}}
        assert ask("", form=filled_in)["response"] == "One large pizza is on its way."


@pytest.mark.processes
def test_what_programs_do_most(service: Service, tmp_path: Path) -> None:
    with Receiver() as receiver:
        command = [str(NODE), str(Path(__file__).with_name("client_walk.mjs"))]
        arguments = [service.base, str(service.key), receiver.url]
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, check=False, timeout=120
        )
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
        assert len(receiver.bodies) == 1


@pytest.mark.processes
def test_grpc_from_node(service: Service, built: Path) -> None:
    program = built / "examples/grpc.mjs"
    page = (ROOT / "docs/internal-services.md").read_text("utf-8")
    assert program.read_text("utf-8") in page, "the page for internal services shows another program"
    with service.client() as client:
        instance_of(client, "agent::echo", "Listed")
    command = [str(NODE), str(program), f"127.0.0.1:{service.grpc_port}", str(service.key)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+ Listed agent::echo$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.processes
def test_events_go_on_without_loss_when_the_service_was_killed(
    service: Service, built: Path, tmp_path: Path
) -> None:
    with service.client() as client:
        hook = instance_of(client, "agent::echo", "Watched")

    def write(text: str) -> None:
        with service.client() as client:
            assert client.post(hook, json={"message": text, "sessionId": "1"}).status_code == 200

    arguments = (service.base, str(service.key))
    with program(built / "examples/events.mjs", tmp_path / "events", *arguments) as lines:

        def texts() -> list[str]:
            return [line.partition(" ")[2] for line in lines()]

        def is_recorded() -> bool:
            """Events are recorded while somebody listens."""
            write("before")
            return bool(lines())

        until(is_recorded, "events are recorded")
        for text in ("first", "second"):
            write(text)
            service.kill_everything()
            service.start()
        write("last")
        until(lambda: "last" in texts(), "the last message is read", seconds=60)
        read = [text for text in texts() if text != "before"]
        assert list(dict.fromkeys(read)) == ["first", "second", "last"]
        numbers = [int(line.partition(" ")[0]) for line in lines()]
        assert numbers == sorted(set(numbers))
