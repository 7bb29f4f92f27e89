"""The examples work, with the rules file beside them."""

import importlib.util
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from aiohttp.test_utils import TestServer

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.builtin import Builtins
from adapters.outbound.resources.grpc_runner import GrpcChannels
from adapters.outbound.resources.router import Router, Runners
from adapters.outbound.resources.rules_file import RulesFile
from domain.routing.model import Approval, Confirmation, ResultArtifact, RunResult
from ports.resources import Downstream
from tests.support.runs import Knowledge, Remembered, States, Tasks, a_request

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def http_port() -> Iterator[int]:
    server = example("http_resource").serve(0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
async def router(tmp_path: Path, http_port: int) -> AsyncIterator[Downstream]:
    """The rules of the examples, on ports that are free."""
    grpc_server, grpc_port = await example("grpc_resource").start(0)
    chat = TestServer(example("chat_completions_standin").application(), host="127.0.0.1")
    await chat.start_server()
    http, channels = AioHttp(AddressPolicy()), GrpcChannels()
    builtins = Builtins(Knowledge())
    runners = Runners(
        http, channels, Remembered(), States(), Tasks(), builtins, Knowledge(), retry=lambda inner: inner
    )
    path = tmp_path / "resources.toml"
    ports = {"8701": http_port, "8702": grpc_port, "8703": chat.port}
    text = (EXAMPLES / "resources.toml").read_text("utf-8")
    for written, free in ports.items():
        assert f"127.0.0.1:{written}" in text
        text = text.replace(f"127.0.0.1:{written}", f"127.0.0.1:{free}")
    path.write_text(text, "utf-8")
    rules = RulesFile(path, {}.get, runners.build)
    assert rules.load() == 4
    yield Router(rules, builtins)
    await channels.close()
    await http.close()
    await chat.close()
    await grpc_server.stop(None)


async def test_a_built_in_under_another_name(router: Downstream) -> None:
    assert await router.run(a_request("agent::parrot")) == RunResult("How late is it?")


async def test_the_http_resource(router: Downstream) -> None:
    ask = a_request("workflow::w")

    hello = await router.run(ask)
    report = await router.run(replace(ask, text="The report, please."))
    question = await router.run(replace(ask, text="Delete my notes."))
    approved = await router.run(replace(ask, approval=Approval("c1", "delete_notes", "approved")))
    rejected = await router.run(replace(ask, approval=Approval("c1", "delete_notes", "rejected")))
    for_session = await router.run(replace(ask, text="Delete!", approved_tools=("delete_notes",)))

    assert hello == RunResult("Hello Ada, you wrote: **How late is it?**")
    assert report.artifacts == (ResultArtifact("report.txt", "text/plain", data=b"Everything is fine.\n"),)
    assert question.confirmation == Confirmation("delete_notes", {"older_than_days": 30})
    assert approved == for_session == RunResult("The notes are deleted.")
    assert rejected == RunResult("Then delete_notes stays undone.")


async def test_the_grpc_resource(router: Downstream) -> None:
    ask = a_request("function::f", text="Ring the bell")

    question = await router.run(ask)
    approved = await router.run(replace(ask, approval=Approval("c1", "ring_bell", "approved")))

    assert question == RunResult("Ring the bell", confirmation=Confirmation("ring_bell", {"times": 1}))
    assert approved == RunResult("Ding!")


async def test_the_chat_completions_stand_in(router: Downstream) -> None:
    ask = a_request("assistant")

    first = await router.run(replace(ask, request_id="1"))
    second = await router.run(replace(ask, request_id="2", text="And now?"))
    question = await router.run(replace(ask, request_id="3", text="look up holidays"))
    approval = Approval("c1", "look_up", "approved")
    found = await router.run(replace(ask, request_id="4", text="yes", approval=approval))

    assert first == RunResult("This is message 1 of ours: How late is it?")
    assert second == RunResult("This is message 2 of ours: And now?")
    assert question == RunResult("", confirmation=Confirmation("look_up", {"query": "look up holidays"}))
    assert found.text.startswith("I found: nothing about 'look up holidays'")
