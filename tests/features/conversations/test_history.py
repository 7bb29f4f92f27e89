"""The steps of history.feature."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.ways import INSTANCES
from tests.features.conversations.scene import PEOPLE, Scene
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("history.feature")

NAMES = {"ada": "Ada Lovelace", "bert": "Bert"}
ODD_NAMES = ("a/b/messages", " blank ", "Zoë?&#%2F", "x" * 5000)


@pytest.fixture
def held(scene: Scene) -> Iterator[None]:
    """The resource answers when the scenario is over."""

    async def event() -> asyncio.Event:
        return asyncio.Event()

    scene.resource.hold = scene.world.run(event())
    yield

    async def release() -> None:
        assert scene.resource.hold
        scene.resource.hold.set()

    scene.world.run(release())


@given("a bot of ann that does not answer yet")
def does_not_answer(scene: Scene, held: None) -> None:
    scene.create("ann")


@given("a bot of bob")
def of_bob(scene: Scene) -> None:
    scene.create("bob", "http-webhook", responseWebhookUrl="https://example.com/hook")


@when(parsers.parse("{number:d} people write"))
def people_write(scene: Scene, number: int) -> None:
    for each in range(number):
        scene.write(f"person {each}", "hello")
        scene.settle()  # else the order of their answers tells whose conversation is the latest


@when(parsers.parse("ada writes {number:d} messages"))
def writes_many(scene: Scene, number: int) -> None:
    for each in range(number):
        scene.write("ada", f"message {each}")
    scene.settle()


@then("ann sees the conversations of bert and ada, in this order")
def both(scene: Scene) -> None:
    assert scene.senders() == ["Bert", "Ada Lovelace"]


@then(parsers.parse('the latest message of ada\'s conversation is "{text}"'))
def latest(scene: Scene, text: str) -> None:
    [_, found] = scene.conversations()
    assert (found["lastText"], found["messages"], found["handler"]) == (text, 2, "resource")
    assert found["sender"] == {
        "externalId": str(PEOPLE["ada"][2]),
        "displayName": "Ada Lovelace",
        "userId": None,
    }


@then("nothing waits for an answer")
def nothing_waits(scene: Scene) -> None:
    assert not any(found["waiting"] or found["pendingConfirmation"] for found in scene.conversations())


@then("ann sees only ada among the conversations that wait")
def only_ada(scene: Scene) -> None:
    scene.resource.wait_for(1)
    assert scene.senders(waiting="true") == ["Ada Lovelace"]
    [message] = scene.messages("ada")
    assert (message["status"], message["direction"], message["error"]) == ("waiting", "in", None)


@then("ann sees nobody among those that do not")
def nobody(scene: Scene) -> None:
    assert scene.senders(waiting="false") == []


@then(parsers.re(r'ann finds the conversation of (?P<who>\w+) by "(?P<text>[^"]+)"'))
def finds(scene: Scene, who: str, text: str) -> None:
    assert scene.senders(query=text) == [NAMES[who]]


@then(parsers.re(r'ann finds nothing by "(?P<text>[^"]+)"'))
def finds_nothing(scene: Scene, text: str) -> None:
    assert scene.senders(query=text) == []


@then(parsers.parse("ann sees all {number:d} conversations in pages of {size:d}"))
def in_pages(scene: Scene, number: int, size: int) -> None:
    pages = list(scene.pages(f"{scene.path}/conversations", "conversations", limit=size))
    assert [len(page) for page in pages] == [3, 3, 1]
    names = [found["sender"]["displayName"] for page in pages for found in page]
    assert names == [f"person {each}" for each in reversed(range(number))]


@then("ada's conversation reads:")
def reads(scene: Scene, datatable: list[list[str]]) -> None:
    found = scene.messages("ada")
    expected = datatable[1:]
    assert [(each["author"], each["status"]) for each in found] == [
        (who, state) for who, _, state in expected
    ]
    for each, (_, text, _) in zip(found, expected, strict=True):
        assert not text or each["text"] == text
    assert [each["at"] for each in found] == sorted(each["at"] for each in found)
    assert {each["sessionId"] for each in found} == {str(PEOPLE["ada"][2])}
    assert all(each["requestId"] for each in found)
    names = {each["senderName"] for each in found if each["author"] == "sender"}
    assert names == {"Ada Lovelace"}


@then(parsers.parse("ann reads the same conversation in pages of {size:d}"))
def reads_pages(scene: Scene, size: int) -> None:
    assert scene.messages("ada", limit=size) == scene.messages("ada")
    assert len(scene.messages("ada")) == 10


@then(parsers.parse("ann reads it backwards in pages of {size:d}"))
def reads_backwards(scene: Scene, size: int) -> None:
    backwards = scene.messages("ada", limit=size, latestFirst="true")
    assert backwards == scene.messages("ada")[::-1]


@then("the reason of ada's message names the resource")
def reason(scene: Scene) -> None:
    assert "the model is away" in scene.messages("ada")[0]["error"]


@then("a conversation can be read whose name has slashes, blanks, accents, or thousands of letters")
def odd_names(scene: Scene) -> None:
    scene.create("ann", "http-webhook", responseWebhookUrl="https://example.com/hook")
    for name in ODD_NAMES:
        body = json.dumps({"message": name, "sessionId": name}).encode()
        scene.rest.call(
            "http-webhook", scene.bots["ann"], body, {"content-type": "application/json"}, "webhook"
        )
        path = f"{scene.path}/conversations/{quote(name, safe='')}/messages"
        assert scene.read(path)["messages"][0]["sessionId"] == name
    assert {found["sessionId"] for found in scene.conversations()} == set(ODD_NAMES)


@then("one that does not exist is not found, whatever its name")
def unknown(scene: Scene) -> None:
    for name in ("other", "sha256:", "a/b", "\0", "\N{GRINNING FACE}" * 2000, "%ff%fe"):
        path = f"{scene.path}/conversations/{name if '%' in name else quote(name, safe='')}"
        assert scene.ask("GET", f"{path}/messages").status_code == 404, name
        assert scene.ask("DELETE", path).status_code == 404, name
        assert scene.ask("PUT", f"{path}/handler", json={"handler": "person"}).status_code == 404, name


def _calls(scene: Scene, bot: int) -> list[tuple[str, str, Any]]:
    base, session = f"{INSTANCES}/{bot}", PEOPLE["ada"][2]
    return [
        ("GET", f"{base}/conversations", None),
        ("GET", f"{base}/conversations/{session}/messages", None),
        ("GET", f"{base}/messages?status=failed", None),
        ("GET", f"{base}/messages/in-1/timeline", None),
        ("PUT", f"{base}/conversations/{session}/handler", {"handler": "person"}),
        ("POST", f"{base}/messages/in-1/rerun", None),
        ("DELETE", f"{base}/conversations/{session}", None),
    ]


@then("bob is refused whatever he asks of ada's conversation")
def refused(scene: Scene) -> None:
    for method, path, body in _calls(scene, scene.bots["ann"]):
        assert scene.ask(method, path, "bob", json=body).status_code == 403, path
    for method, path, body in _calls(scene, 10**6):
        assert scene.ask(method, path, "bob", json=body).status_code == 404, path
    assert len(scene.messages("ada")) == 2


@then("an admin sees it")
def admin(scene: Scene) -> None:
    found = scene.ask("GET", f"{scene.of('ada')}/messages", "admin").json()["messages"]
    assert [each["text"] for each in found] == ["secret", "You said: secret"]


@then("bob cannot run ada's message again through his bot")
def not_through_his(scene: Scene) -> None:
    [message] = scene.failed()
    path = f"{INSTANCES}/{scene.bots['bob']}/messages/{message['id']}/rerun"
    assert scene.ask("POST", path, "bob").status_code == 404
    assert scene.failed() == [message]


@then("ann sees ada's message among those that were given up")
def given_up(scene: Scene) -> None:
    [message] = scene.failed()
    assert (message["text"], message["status"], message["direction"]) == ("help", "failed", "in")
    assert "the model is away" in message["error"]


@then("ann sees the answer to ada among those that were given up")
def answer_given_up(scene: Scene) -> None:
    [message] = scene.failed()
    assert (message["text"], message["status"], message["direction"]) == ("You said: hello", "dead", "out")
    assert "chat not found" in message["error"]
    assert message["sessionId"] == str(PEOPLE["ada"][2])


@when("ann runs it again")
def runs_again(scene: Scene) -> None:
    [message] = scene.failed()
    response = scene.ask("POST", f"{scene.path}/messages/{message['id']}/rerun")
    assert response.status_code == 202, response.text


@when(parsers.parse('ada gets "{text}"'))
@then(parsers.parse('ada gets "{text}"'))
def gets(scene: Scene, text: str) -> None:
    until(lambda: text in scene.got("ada"), f"ada gets {text}")
    scene.settle()
    assert scene.got("ada")[-1] == text


@then("the resource was asked under another name")
def another_name(scene: Scene) -> None:
    first, second = scene.resource.requests
    assert first.text == second.text
    assert first.request_id != second.request_id


@then("nothing is given up any more")
def nothing_given_up(scene: Scene) -> None:
    assert scene.failed() == []
    assert {message["status"] for message in scene.messages("ada")} == {"done", "sent"}


@then("running ada's message or its answer again is a conflict")
def conflict(scene: Scene) -> None:
    for message in scene.messages("ada"):
        assert scene.ask("POST", f"{scene.path}/messages/{message['id']}/rerun").status_code == 409


@then("running one again that does not exist is not possible")
def does_not_exist(scene: Scene) -> None:
    for id in ("in-999999", "out-999999", "send-999999", "in-0", "nonsense", "in-" + "9" * 50):
        assert scene.ask("POST", f"{scene.path}/messages/{id}/rerun").status_code == 404


WRONG = {
    "limit": ("conversations", {"limit": "201"}),
    "cursor": ("conversations", {"cursor": "nonsense"}),
    "waiting": ("conversations", {"waiting": "maybe"}),
    "query": ("conversations", {"query": "x" * 201}),
    "status": ("messages", {"status": "sent"}),
}


@then(parsers.parse("asking for conversations with a wrong {field} is refused, and the field is named"))
def wrong(scene: Scene, field: str) -> None:
    path, query = WRONG[field]
    response = scene.ask("GET", f"{scene.path}/{path}", params=query)
    assert response.status_code == 400
    assert response.json()["error"].startswith(f"{field}: ")


ALL = "/api/agent/conversations"


@given("a second bot of ann")
def second_bot(scene: Scene) -> None:
    scene.second = scene.bots["ann"]
    first = scene.create("ann", "http-webhook", responseWebhookUrl="https://example.com/hook")
    scene.bots["ann"], scene.second = scene.second, first


@when("carl writes to the second bot")
def carl_writes(scene: Scene) -> None:
    body = json.dumps({"message": "hello", "sessionId": "carl"}).encode()
    headers = {"content-type": "application/json"}
    scene.rest.call("http-webhook", scene.second, body, headers, "webhook")
    until(
        lambda: scene.value("SELECT count(*) FROM queue WHERE kind = 0 AND pending > 0") == 0,
        "it is answered",
    )


def _list(scene: Scene, user: str = "ann", **query: Any) -> list[dict[str, Any]]:
    found = scene.ask("GET", ALL, user, params=query)
    assert found.status_code == 200, found.text
    listed: list[dict[str, Any]] = found.json()["conversations"]
    return listed


def _names(found: list[dict[str, Any]]) -> list[str]:
    return [each["sender"]["displayName"] or each["sessionId"] for each in found]


@then("ann sees carl and ada in one list, and the bot that each wrote to")
def one_list(scene: Scene) -> None:
    found = _list(scene)
    assert _names(found) == ["carl", "Ada Lovelace"]
    bots = [(each["instanceId"], each["channelId"], each["channelName"]) for each in found]
    first, second = scene.bots["ann"], scene.second
    assert bots == [(second, "http-webhook", "http-webhook"), (first, "bot-messenger", "bot-messenger")]


@then("the list of the second bot alone has carl")
def second_alone(scene: Scene) -> None:
    assert _names(_list(scene, instanceId=scene.second)) == ["carl"]


@then("bob's list is empty")
def empty(scene: Scene) -> None:
    assert _list(scene, "bob") == []


@then("an admin's list has both")
def both_for_admin(scene: Scene) -> None:
    assert _names(_list(scene, "admin")) == ["carl", "Ada Lovelace"]


@then(parsers.parse("ann's list of all bots has the same {number:d} conversations in pages of {size:d}"))
def same(scene: Scene, number: int, size: int) -> None:
    paged = [each for page in scene.pages(ALL, "conversations", limit=size) for each in page]
    assert len(paged) == number
    assert paged == _list(scene)


@given("ada and bert have written")
def have_written(scene: Scene) -> None:
    for who in PEOPLE:
        scene.write(who, "hello")
    scene.settle()


@when("ann takes ada's conversation over")
def takes_over(scene: Scene) -> None:
    assert scene.hand_over("ada").status_code == 204


@then("ann finds ada alone among what a person has")
def with_person(scene: Scene) -> None:
    assert _names(_list(scene, handler="person")) == ["Ada Lovelace"]


@then("ann is named as the one who has it")
def named(scene: Scene) -> None:
    [found] = _list(scene, handler="person")
    assert (found["handler"], found["handledBy"]) == ("person", "ann")


@then("ann finds bert alone among what the resource has")
def with_resource(scene: Scene) -> None:
    [found] = _list(scene, handler="resource")
    assert (found["sender"]["displayName"], found["handledBy"]) == ("Bert", None)


@then("ann finds ada alone among what waits")
def waits(scene: Scene) -> None:
    assert _names(_list(scene, waiting="true")) == ["Ada Lovelace"]


@then("one conversation can be looked up by its id")
def looked_up(scene: Scene) -> None:
    path = f"{scene.path}/conversations"
    session = str(PEOPLE["bert"][2])
    assert _names(scene.read(path, sessionId=session)["conversations"]) == ["Bert"]
    assert scene.read(path, sessionId="nobody")["conversations"] == []


@then("bob is refused the list of ann's bot")
def refused_list(scene: Scene) -> None:
    ids = f"{scene.bots['bob']},{scene.bots['ann']}"
    assert scene.ask("GET", ALL, "bob", params={"instanceId": ids}).status_code == 403
    assert scene.ask("GET", ALL, "bob", params={"handler": "nobody"}).status_code == 400
    assert scene.ask("GET", ALL, "bob", params={"instanceId": "x"}).status_code == 400


@then("the list of a bot that does not exist is not found")
def no_such_bot(scene: Scene) -> None:
    assert scene.ask("GET", ALL, "bob", params={"instanceId": "999999"}).status_code == 404


@given("a bot of ann whose resource asks before it opens a valve")
def asks_first(scene: Scene) -> None:
    scene.create("ann")

    def script(request: RunRequest) -> RunResult:
        if request.approval is not None:
            return RunResult("done")
        return RunResult("", confirmation=Confirmation("open_valve", {"valve": 7}))

    scene.resource.script = script


@when("ann writes a very long text to ada")
def long_text(scene: Scene) -> None:
    _send(scene, "word " * 2000)
    scene.settle()


@when("ann answers it")
def answers(scene: Scene) -> None:
    _send(scene, "yes, me")


def _send(scene: Scene, text: str) -> None:
    body = {"sessionId": str(PEOPLE["ada"][2]), "text": text}
    assert scene.ask("POST", f"{scene.path}/messages", json=body).status_code == 202


def _steps(scene: Scene, place: int) -> list[dict[str, Any]]:
    message = scene.messages("ada")[place]
    timeline = scene.read(f"{scene.path}/messages/{message['id']}/timeline")
    assert timeline["messageId"] == message["id"]
    steps: list[dict[str, Any]] = timeline["steps"]
    return steps


PLACES = {
    "ada's message": 0,
    "the answer": 1,
    "ann's message": 2,
    "ada's latest message": 2,
    "that message": 2,
}


@then(
    parsers.re(r'the timeline of (?P<which>[a-z\' ]+) reads "(?P<kinds>[a-z_, ]+)"'), target_fixture="steps"
)
def timeline_reads(scene: Scene, which: str, kinds: str) -> list[dict[str, Any]]:
    steps = _steps(scene, PLACES[which])
    assert ", ".join(step["kind"] for step in steps) == kinds
    return steps


@then("each of these steps has its time, but for the asking")
def has_time(scene: Scene) -> None:
    received, asked, answered = _steps(scene, 0)
    written, sent = _steps(scene, 1)
    assert (asked["at"], asked["attempts"], sent["attempts"]) == (None, 1, 1)
    assert received["at"] <= answered["at"] == written["at"] <= sent["at"]
    assert sent["platformId"]


@then(parsers.re("the last step says that (?P<reason>the model is away|the chat was not found)"))
def says_why(steps: list[dict[str, Any]], reason: str) -> None:
    assert {"the chat was not found": "chat not found"}.get(reason, reason) in steps[-1]["reason"]


@then("the timeline names the tool, the decision, and ada")
def names(steps: list[dict[str, Any]]) -> None:
    asked, decided = steps[2:4]
    assert (asked["tool"], decided["tool"], decided["decision"]) == ("open_valve", "open_valve", "approved")
    assert decided["decider"] == "Ada Lovelace"
    assert asked["at"] <= decided["at"]


@then("each piece has its number")
def numbered(steps: list[dict[str, Any]]) -> None:
    assert [step["part"] for step in steps] == [None, 1, 2, 3]


@then("bob gets no timeline of it through ann's bot, nor through his own")
def no_timeline(scene: Scene) -> None:
    for message in scene.messages("ada"):
        for bot, status in (("ann", 403), ("bob", 404)):
            path = f"{INSTANCES}/{scene.bots[bot]}/messages/{message['id']}/timeline"
            assert scene.ask("GET", path, "bob").status_code == status
    assert scene.ask("GET", f"{scene.path}/messages/nonsense/timeline").status_code == 404
