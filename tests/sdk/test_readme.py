"""The examples in the page of the SDK work."""

import re
import sys
from types import ModuleType
from typing import Any

import pytest
from switchboard_sdk.testing import AgentTest

from tests.support.source_files import ROOT

PAGE = (ROOT / "sdk/python/README.md").read_text("utf-8")
BLOCKS: list[str] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
AGENT, APPROVALS, FORMS, TEST, *CLIENTS, STUBS = BLOCKS


def module(code: str, name: str = "agent") -> Any:
    made = ModuleType(name)
    exec(compile(code, name, "exec"), made.__dict__)
    return made


def test_the_agent_and_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agent", module(AGENT))
    module(TEST, "test_agent").test_it_repeats()


def test_the_agent_that_asks_for_approval() -> None:
    with AgentTest(module(APPROVALS).agent) as conversation:
        assert conversation.ask("delete my notes").json["confirmation"]["tool"] == "delete_notes"
        assert conversation.decide("approved").text == "The notes are deleted."
        conversation.ask("delete my notes")
        assert conversation.decide("rejected").text == "Then they stay."


def test_the_agent_with_a_form() -> None:
    with AgentTest(module(FORMS).agent) as conversation:
        form = conversation.ask("a pizza, please").json["form"]
        assert [option["value"] for option in form["fields"][0]["options"]] == ["small", "large"]
        assert conversation.fill_in({"size": "small"}, "order").text == "One small pizza is on its way."


def test_the_clients_use_what_there_is() -> None:
    assert len(CLIENTS) == 2
    for block in CLIENTS:
        compile(block, "client", "exec")
        client = module("from switchboard_sdk import Client").Client
        assert all(hasattr(client, name) for name in re.findall(r"switchboard\.(\w+)\(", block))


def test_the_stubs_have_what_the_page_calls() -> None:
    assert "AccessServiceStub(channel)" in STUBS
    imports = [line for line in STUBS.splitlines() if line.startswith(("import", "from"))]
    names = module("\n".join(imports))
    assert names.access_pb2.WhoAmIRequest()
    assert names.access_pb2_grpc.AccessServiceStub
