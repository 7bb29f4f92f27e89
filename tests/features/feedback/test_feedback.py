"""The steps of feedback.feature."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.inbound.console.sessions import SESSION
from adapters.outbound.channels.business_messaging.tests import samples as whatsapp_calls
from adapters.outbound.channels.workspace_chat.tests import samples as slack_calls
from adapters.outbound.storage.events import PostgresEventLog
from domain.access.model import Caller
from domain.channels.answers import Choice
from domain.channels.messages import RawCall
from domain.channels.provenance import Citation
from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.groups import GROUPS, Group, Slack, Teams
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import World
from tests.support.event_log import events_of, listening
from tests.support.platforms import slack

scenarios("feedback.feature")

ANSWER = "Press the red button."
NAMES = {"👍": "thumbsup", "👍🏽": "thumbsup::skin-tone-4", "👎": "thumbsdown", "🎉": "tada"}
CITED = Citation(1, "c1", "manual.pdf", 3, "The red button starts the pump.", "page 3")
LISTS = "/api/agent/feedback"


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """One address for all platforms, one after the other."""
    driver = PlatformDriver()
    addresses = {name: driver.url + group.api for group, _ in GROUPS.values() for name in group.settings}
    request.module.SETTINGS = addresses
    yield driver
    driver.close()


class Scene:
    """A bot of ann's, and the resource behind it."""

    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        self.world, self.rest, self.driver = world, rest, driver
        self.choices: tuple[Choice, ...] = ()
        self.citations: tuple[Citation, ...] = ()
        self.resource = Resource(world, self.script)
        self.log: PostgresEventLog | None = None

    def script(self, request: RunRequest) -> RunResult:
        if request.text == "open the valve":
            return RunResult("", confirmation=Confirmation("open_valve", {}))
        return RunResult(ANSWER, choices=self.choices, citations=self.citations)

    def open(self, platform: str, *, feedback: bool = True, reactions: bool = False) -> None:
        group, standin = GROUPS[platform]
        self.driver.show(standin())
        self.group: Group = group(self.driver.platform)
        self.body = {
            "channelId": self.group.channel_id,
            "channelName": "Works",
            "config": {**self.group.configured(), **({"reactions": True} if reactions else {})},
            "downStreamResourceId": "agent::works",
            "feedback": feedback,
        }
        made = self.rest.create("ann", self.body)
        assert made.outcome == "created", made.body
        self.instance_id = int(made.body["instanceId"])

    def post(self, call: RawCall) -> None:
        reply = self.rest.call(
            self.group.channel_id, self.instance_id, call.body, call.headers, call.callback
        )
        assert reply.outcome == "done", reply
        self.world.settle()

    def read(self, path: str, user: str = "ann", **query: Any) -> Any:
        response = self.rest.request("GET", path, user, params=query)
        assert response.status_code == 200, response.text
        return response.json()

    def votes(self, **query: Any) -> list[dict[str, Any]]:
        votes: list[dict[str, Any]] = self.read(f"{INSTANCES}/{self.instance_id}/feedback", **query)[
            "feedback"
        ]
        return votes

    @property
    def platform(self) -> Any:
        return self.driver.platform

    def asked(self) -> list[str]:
        return [request.text for request in self.resource.requests]

    def value(self, query: str) -> Any:
        return self.world.run(self.world.container.database().fetch_value(query))


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Iterator[Scene]:
    world.clock.stop()
    made = Scene(world, rest, platform_driver)
    yield made
    assert platform_driver.platform.faults == []


@given(parsers.re(r"a bot on (?P<platform>\w+) that asks for feedback$"))
def asking_bot(scene: Scene, platform: str) -> None:
    scene.open(platform)


@given(parsers.re(r"a bot on (?P<platform>\w+) that asks for feedback, and whose reactions are (?P<how>.+)"))
def reacting_bot(scene: Scene, platform: str, how: str) -> None:
    scene.open(platform, reactions=how == "handed on")


@given(parsers.re(r"a bot on (?P<platform>\w+)$"))
def bot(scene: Scene, platform: str) -> None:
    scene.open(platform, feedback=False)


@given('its resource offers "Small" and "Large"')
def offers(scene: Scene) -> None:
    scene.choices = (Choice("Small", "s"), Choice("Large", "l"))


@given('its resource cites page 3 of "manual.pdf"')
def cites(scene: Scene) -> None:
    scene.citations = (CITED,)


@given("somebody listens to events")
def listen(scene: Scene) -> None:
    scene.log = scene.world.run(listening(scene.world.container.database()))


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)"$'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.post(scene.group.write(who, text, scene.world.clock.now()))


def _press(scene: Scene, who: str, value: str) -> None:
    number = len(scene.group.questions()) - 1
    scene.post(scene.group.press(who, number, value, scene.world.clock.now()))


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)"$'))
def presses(scene: Scene, who: str, label: str) -> None:
    _press(scene, who, scene.group.questions()[-1][label])


@when(parsers.re(r'"(?P<who>\w+)" writes and presses "(?P<label>[^"]+)" (?P<count>\d+) times'))
def writes_and_presses(scene: Scene, who: str, label: str, count: str) -> None:
    for number in range(int(count)):
        writes(scene, who, f"question {number}")
        presses(scene, who, label)


@when('"ada" presses a thumb with another proof')
def presses_forged(scene: Scene) -> None:
    value = scene.group.questions()[-1]["👍"]
    message, proof, rating = value.removeprefix("thumb:").split(":")
    buttons = scene.platform.calls[-1][1]["reply_markup"]["inline_keyboard"][-1]
    forged = f"thumb:{message}:{proof[::-1]}:{rating}"
    buttons[0]["callback_data"] = forged
    _press(scene, "ada", forged)


@when('"ada" presses the thumb of Teams that points down')
def presses_in_teams(scene: Scene) -> None:
    assert isinstance(scene.group, Teams)
    scene.post(scene.group.thumb("ada", "dislike", scene.world.clock.now()))


@when(parsers.parse('"ada" reacts with "{reaction}"'))
def reacts(scene: Scene, reaction: str) -> None:
    if isinstance(scene.group, Slack):
        body = slack_calls.fixture("reaction_added")
        [position] = [number for number, _ in enumerate(scene.group.sent())]
        item = {"type": "message", "channel": "C0ROOM", "ts": f"1800000000.{position + 1:06d}"}
        event = {"user": scene.group.users["ada"], "reaction": NAMES[reaction], "item": item}
        body["event"] |= {**event, "item_user": slack.BOT}
        scene.post(slack_calls.as_posted("reaction_added", body, scene.world.clock.now()))
        return
    body = whatsapp_calls.fixture("reaction")
    message = body["entry"][0]["changes"][0]["value"]["messages"][0]
    message["reaction"] = {"message_id": f"wamid.{len(scene.platform.messages)}", "emoji": reaction}
    scene.post(whatsapp_calls.posted(body))


@when("feedback is switched off")
def switched_off(scene: Scene) -> None:
    reply = scene.rest.update("ann", scene.instance_id, {**scene.body, "feedback": False})
    assert reply.outcome == "done", reply


@when("the conversation is erased")
def erased(scene: Scene) -> None:
    session = scene.resource.requests[0].session_id
    conversations = scene.world.container.use_cases().conversations
    scene.world.run(conversations.erase(Caller("ann"), scene.instance_id, session))


@then(parsers.re(r"the answer has the buttons (?P<labels>.+)"))
def has_buttons(scene: Scene, labels: str) -> None:
    assert list(scene.group.questions()[-1]) == labels.replace(" and ", ", ").replace('"', "").split(", ")


@then("the answer has no buttons")
def has_none(scene: Scene) -> None:
    assert scene.asked()
    assert scene.group.questions() == []


@then("the answer asks Teams for its thumbs")
def asks_teams(scene: Scene) -> None:
    _, sent = scene.platform.replies[-1]
    assert (sent["text"], sent["channelData"]) == (ANSWER, {"feedbackLoop": {"type": "default"}})


@then(parsers.re(r'ann sees one vote: "(?P<rating>\w+)" of "(?P<who>\w+)" on "(?P<answer>[^"]+)"'))
def sees_vote(scene: Scene, rating: str, who: str, answer: str) -> None:
    [vote] = scene.votes()
    assert (vote["rating"], vote["answer"]) == (rating, answer)
    assert vote["sender"]["externalId"] == scene.resource.requests[0].sender.external_id


@then(parsers.re(r'ann sees one vote "(?P<rating>\w+)"'))
def sees_rating(scene: Scene, rating: str) -> None:
    assert [vote["rating"] for vote in scene.votes()] == [rating]


@then("ann sees no votes")
def sees_none(scene: Scene) -> None:
    assert scene.votes() == []


@then('ann sees the votes "up" of "bob" and "down" of "ada"')
def sees_both(scene: Scene) -> None:
    ids = Slack.users
    votes = [(vote["rating"], vote["sender"]["externalId"]) for vote in scene.votes()]
    assert votes == [("up", ids["bob"]), ("down", ids["ada"])]


@then("the resource is not asked about the press")
def not_asked(scene: Scene) -> None:
    assert scene.asked() == ["How do I start the pump?"]


@then(parsers.re(r"the resource gets (?P<count>no reaction|one reaction)"))
def gets(scene: Scene, count: str) -> None:
    reactions = [request.reaction for request in scene.resource.requests if request.reaction]
    assert len(reactions) == {"no reaction": 0, "one reaction": 1}[count]


@then(parsers.parse('"{who}" is told "{words}"'))
def is_told(scene: Scene, who: str, words: str) -> None:
    told = scene.driver.wait_until(lambda: any(words in text for text in scene.group.told(who)))
    assert told, scene.driver.platform.seen


@then('the vote shows the question, the resource and the passage of "manual.pdf"')
def shows_all(scene: Scene) -> None:
    [vote] = scene.votes(rating="down")
    assert (vote["question"], vote["resource"]) == ("How do I start the pump?", "agent::works_0")
    [passage] = vote["citations"]
    assert (passage["fileName"], passage["page"], passage["quote"]) == ("manual.pdf", 3, CITED.quote)


@then('the votes "down" of all bots are one, the votes "up" none')
def of_all(scene: Scene) -> None:
    assert [len(scene.read(LISTS, rating=rating)["feedback"]) for rating in ("down", "up")] == [1, 0]


def _export(scene: Scene, kind: str) -> str:
    response = scene.rest.request("GET", f"{LISTS}/export", "ann", params={"format": kind})
    assert response.status_code == 200, response.text
    assert f'filename="feedback.{kind}"' in response.headers["content-disposition"]
    return response.text


@then("the export as CSV and as lines of JSON has the question and the answer")
def exported(scene: Scene) -> None:
    [row] = csv.DictReader(io.StringIO(_export(scene, "csv")))
    [line] = _export(scene, "ndjson").splitlines()
    for vote in (row, json.loads(line)):
        assert (vote["question"], vote["answer"]) == ("How do I start the pump?", ANSWER)


@then(parsers.parse('the export has "{question}" in its place'))
def no_formula(scene: Scene, question: str) -> None:
    [row] = csv.DictReader(io.StringIO(_export(scene, "csv")))
    assert row["question"] == question


@then("bob sees none of it")
def bob_sees_none(scene: Scene) -> None:
    assert scene.read(LISTS, "bob") == {"feedback": [], "next": None}
    path = f"{INSTANCES}/{scene.instance_id}/feedback"
    assert scene.rest.request("GET", path, "bob").status_code == 403


@then('the page of answers that people did not like shows the question and "manual.pdf"')
def page(scene: Scene) -> None:
    sessions = scene.world.container.use_cases().sessions
    token = scene.world.run(sessions.sign_in(scene.world.key_of("ann"), "127.0.0.1")).token
    shown = scene.rest.request("GET", "/console/problems/feedback", headers={"cookie": f"{SESSION}={token}"})
    assert shown.status_code == 200
    assert "How do I start the pump?" in shown.text
    assert "manual.pdf" in shown.text


@then("ann sees the 3 votes in pages of 2")
def pages(scene: Scene) -> None:
    first = scene.read(LISTS, limit=2)
    second = scene.read(LISTS, limit=2, cursor=first["next"])
    questions = [vote["question"] for vote in first["feedback"] + second["feedback"]]
    assert questions == ["question 2", "question 1", "question 0"]
    assert second["next"] is None


@then("no row of a vote is left")
def no_row(scene: Scene) -> None:
    assert scene.value("SELECT count(*) FROM feedback") == 0


@then('one event tells of the vote "down", the answer and the resource')
def one_event(scene: Scene) -> None:
    assert scene.log
    events = scene.world.run(events_of(scene.log))
    [event] = [event for event in events if event.kind == "message.feedback"]
    told = {name: event.data[name] for name in ("rating", "text", "resource")}
    assert told == {"rating": "down", "text": ANSWER, "resource": "agent::works_0"}
    assert str(event.data["messageId"]).startswith("out-")
