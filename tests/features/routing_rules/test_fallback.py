"""The steps of fallback.feature."""

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from domain.routing.conversation import APOLOGY
from tests.drivers.streaming import hurry
from tests.features.routing_rules.conftest import OPENS_VALVE, Scene
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("fallback.feature")


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@given(
    parsers.re(r'a bot of "(?P<resource>[^"]+)" with the fallback "(?P<one>[^"]+)" and "(?P<other>[^"]+)"')
)
def bot(scene: Scene, resource: str, one: str, other: str) -> None:
    reply = scene.create(resource, fallback=[one, other])
    assert reply.outcome == "created", reply


@given(parsers.re(r'"(?P<one>[^"]+)" and "(?P<other>[^"]+)" fail'))
def two_fail(scene: Scene, one: str, other: str) -> None:
    scene.resources.failing = {one, other}


@given(parsers.re(r'"(?P<one>[^"]+)" fails$'))
def fails(scene: Scene, one: str) -> None:
    scene.resources.failing = {one}


@given("all resources fail")
def all_fail(scene: Scene) -> None:
    scene.resources.failing = {"all"}


@given('"agent::a" asks for a tool, and fails once it is approved')
def fails_after_approval(scene: Scene) -> None:
    scene.resources.asks = OPENS_VALVE
    scene.resources.fails_after_approval = True


@given('"agent::a" asks for a tool')
def asks_for_tool(scene: Scene) -> None:
    scene.resources.asks = OPENS_VALVE


@when('"agent::a" fails from now on')
def fails_now(scene: Scene) -> None:
    scene.resources.failing = {"agent::a"}


@given(parsers.re(r'nothing is connected to ("(?P<one>[^"]+)"|any resource)$'))
def unconnected(scene: Scene, one: str | None) -> None:
    scene.resources.unconnected = {one or "all"}


@when('the bot is bound to "agent::d" alone')
def bound_anew(scene: Scene) -> None:
    scene.change(downStreamResourceId="agent::d", fallback=[])


@given('"agent::a" fails in the middle of its answer')
def fails_later(scene: Scene) -> None:
    scene.resources.failing = {"agent::a"}
    scene.resources.begun = {"agent::a": "I think that"}


@when('"agent::a" works again')
def works(scene: Scene) -> None:
    scene.resources.failing = set()


@when(parsers.parse('Ada writes "{text}"'))
def writes(scene: Scene, text: str) -> None:
    scene.write(text)
    if not scene.resources.begun:
        scene.settle()


@then(parsers.parse('Ada gets the answer of "{resource}" alone'))
def gets(scene: Scene, resource: str) -> None:
    assert scene.got() == [f"{resource} says hello"]


@then("all three were asked with the same request id")
def same_request(scene: Scene) -> None:
    assert scene.resources.asked == ["agent::a", "agent::b", "agent::c"]
    assert len({request.request_id for request in scene.resources.requests}) == 1


@then(parsers.parse('the timeline says that "{one}" and "{other}" failed and "{last}" answered'))
def timeline(scene: Scene, one: str, other: str, last: str) -> None:
    question, answer = scene.messages()
    assert scene.asked(question["id"]) == [
        (one, None, "it is broken"),
        (other, "fallback", "it is broken"),
        (last, "fallback", None),
    ]
    assert (answer["resource"], answer["route"]) == (last, "fallback")


@then(parsers.parse('the health says "{text}"'))
def health(scene: Scene, text: str) -> None:
    processing = scene.read("/health")["processing"]
    assert (processing["healthy"], processing["lastError"]) == (False, text)


@then("the instance is healthy")
def healthy(scene: Scene) -> None:
    until(lambda: scene.read("/health")["processing"]["healthy"], "the instance is healthy")


@then("Ada gets one apology")
def apology(scene: Scene) -> None:
    assert scene.got() == [APOLOGY]


@then("the message failed with all reasons on record")
def all_reasons(scene: Scene) -> None:
    question = scene.messages()[0]
    reasons = "; ".join(f"agent::{name}_0: it is broken" for name in "abc")
    assert question["error"] == f"all resources failed: {reasons}"
    assert [resource for resource, _, _ in scene.asked(question["id"])] == [
        f"agent::{name}_0" for name in "abc"
    ]


@then(parsers.parse('"{resource}" was asked once'))
def asked_once(scene: Scene, resource: str) -> None:
    assert scene.resources.asked.count(resource) == 1


@then('only "agent::a" was asked')
def only_one(scene: Scene) -> None:
    assert scene.resources.asked == ["agent::a", "agent::a"]


@then(parsers.parse('"{resource}" is told that "{tool}" is approved'))
def told_approved(scene: Scene, resource: str, tool: str) -> None:
    assert scene.approved_by(resource) == (tool,)


@then(parsers.parse('"{resource}" is told that no tool is approved'))
def told_none(scene: Scene, resource: str) -> None:
    assert scene.approved_by(resource) == ()


@then(parsers.parse('Ada is told "{text}"'))
def is_told(scene: Scene, text: str) -> None:
    assert scene.got()[-1] == text


@then('nobody but "agent::a" was asked')
def nobody_else(scene: Scene) -> None:
    assert scene.resources.asked == ["agent::a"]


@then("Ada is told that nobody knows whether the tool was used")
def told(scene: Scene) -> None:
    assert "cannot tell whether it was carried out" in scene.got()[-1]


@then('Ada sees the answer of "agent::b" in the place of what "agent::a" had begun')
def replaced(scene: Scene) -> None:
    until(lambda: scene.got() == ["I think that …"], "the draft is shown")
    scene.world.run(_set(scene))
    until(lambda: list(scene.platform.visible().values()) == ["agent::b says hello"], "the answer is shown")


async def _set(scene: Scene) -> None:
    scene.resources.shown.set()


@then("the apology in the history is of no resource")
def of_no_resource(scene: Scene) -> None:
    _, apology = scene.messages()
    assert apology.keys().isdisjoint({"resource", "route"})
