"""Who answers for which resource id."""

from pathlib import Path

import pytest

from adapters.outbound.resources.builtin import Builtins
from adapters.outbound.resources.router import Router
from adapters.outbound.resources.rules_file import RulesFile
from domain.routing.model import RunResult
from ports.resources import Downstream
from tests.support.runs import Knowledge, ScriptedRunner, a_request

RULES = """
[[rule]]
match = "agent::echo"
kind = "http"
url = "http://rule.example"
"""


def router(path: Path | None = None, default: Downstream | None = None) -> Router:
    rules = RulesFile(path, {}.get, lambda _: ScriptedRunner(RunResult("from the rule")))
    rules.load()
    return Router(rules, Builtins(Knowledge()), default)


async def answer(router: Router, resource: str) -> str:
    return (await router.run(a_request(resource))).text


@pytest.mark.parametrize("resource", ["agent::echo", "agent::echo_0", "agent::echo_3", "echo"])
async def test_echo_answers_with_the_text(resource: str) -> None:
    assert await answer(router(), resource) == "How late is it?"


@pytest.mark.parametrize("resource", ["agent::kb-12", "agent::kb-12_0", "kb-12"])
async def test_a_knowledge_base_is_asked_for_the_owner(resource: str) -> None:
    assert await answer(router(), resource) == "owner-1 asks 12: How late is it?"


@pytest.mark.parametrize(
    "resource",
    [
        "app::echo",
        "workflow::echo",
        "agent::kb-",
        "agent::kb-x",
        "agent::kb-1x",
        "agent::kb-" + "1" * 19,
        "agent::kb-\u0661",
    ],
)
async def test_what_is_no_built_in_is_not_taken_for_one(resource: str) -> None:
    assert await answer(router(default=ScriptedRunner(RunResult("default"))), resource) == "default"


async def test_a_rule_comes_before_a_built_in(tmp_path: Path) -> None:
    path = tmp_path / "resources.toml"
    path.write_text(RULES, "utf-8")

    assert await answer(router(path), "agent::echo") == "from the rule"
    assert await answer(router(path), "agent::echo_1") == "How late is it?"


async def test_a_built_in_comes_before_the_default() -> None:
    assert (
        await answer(router(default=ScriptedRunner(RunResult("default"))), "agent::echo") == "How late is it?"
    )


async def test_an_id_that_nothing_is_connected_to_is_answered_plainly() -> None:
    assert await answer(router(), "workflow::w") == (
        "No resource is connected to workflow::w, so nobody can answer."
    )
