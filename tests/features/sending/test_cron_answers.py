"""The steps of cron_answers.feature."""

from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.workspace_chat.tests import samples
from domain.channels.answers import Choice
from domain.refusals import StorageAway
from domain.routing.model import Confirmation, ResultArtifact, RunRequest, RunResult
from ports.queue import EventOutcome
from ports.resources import DownstreamFailed
from tests.drivers.resource import Resource
from tests.features.sending.conftest import ROOM, Sending
from tests.support.platforms.slack import Slack
from tests.support.waiting import until

scenarios("cron_answers.feature")

SUMMARY = "Summary: all is well"
BASE = {"cronSchedule": "0 9 * * 1", "message": "Sum it up."}


class Schedule:
    """The schedule of a scenario, and what stands behind it."""

    def __init__(self, sending: Sending) -> None:
        self.id = 0
        self.sending = sending
        self.firings = 0
        self.answer: Any = RunResult(SUMMARY)
        self.resource = Resource(sending.world, self.run)

    def run(self, request: RunRequest) -> RunResult:
        if isinstance(self.answer, Exception):
            raise self.answer
        assert isinstance(self.answer, RunResult)
        return self.answer

    def create(self, **destination: Any) -> None:
        config = {**BASE, **destination}
        self.id = self.sending.create("cron", config, "Summary", "workflow::7")

    def fire(self) -> None:
        self.firings += 1
        reply = self.sending.rest.call("cron", self.id, b"", {}, "manual_trigger")
        assert reply.outcome == "accepted", reply

    def wait_done(self) -> None:
        """Waits until all firings have been worked on."""
        database = self.sending.world.container.database()
        query = "SELECT count(*) FROM inbox WHERE instance_id = %s AND status <> 0"

        def done() -> bool:
            return bool(self.sending.world.run(database.fetch_value(query, (self.id,))) == self.firings)

        until(done, "the firings have been worked on")

    def health(self) -> dict[str, Any]:
        return dict(self.sending.rest.health("ann", self.id).body)


@pytest.fixture
def schedule(sending: Sending, slack: Slack) -> Schedule:
    return Schedule(sending)


@given(parsers.re(r"a schedule that delivers to (?P<whom>.+) through the Slack bot"))
def delivering(schedule: Schedule, whom: str) -> None:
    places = {"the channel": "C0ROOM", "ada's conversation": "D0ADA"}
    schedule.create(deliverInstanceId=schedule.sending.id, deliverTo=places.get(whom, whom.strip('"')))


@given("a schedule that delivers through the Slack bot")
def delivering_by_default(schedule: Schedule) -> None:
    schedule.create(deliverInstanceId=schedule.sending.id)


@given("a schedule that delivers nowhere")
def delivering_nowhere(schedule: Schedule) -> None:
    schedule.create()


@given("the database goes away after the answer was sent on, before that is noted")
def goes_away(schedule: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    conversations = schedule.sending.world.container.storage().conversations
    record, failures = conversations.record, [StorageAway("the database is away")]

    async def fails_once(outcome: EventOutcome) -> bool:
        if failures:
            raise failures.pop()
        return await record(outcome)

    monkeypatch.setattr(conversations, "record", fails_once)


@given("the resource fails")
def fails(schedule: Schedule) -> None:
    schedule.answer = DownstreamFailed("HTTP 500", retryable=False)


@when("the resource works again")
def works_again(schedule: Schedule) -> None:
    schedule.answer = RunResult(SUMMARY)


@given("the resource asks for an approval")
def asks(schedule: Schedule) -> None:
    schedule.answer = RunResult("", confirmation=Confirmation("send_mail"))


@given("the resource answers nothing")
def answers_nothing(schedule: Schedule) -> None:
    schedule.answer = RunResult(" ")


@given("the resource answers with a file")
def answers_file(schedule: Schedule) -> None:
    schedule.answer = RunResult("", (ResultArtifact("sums.csv", "text/csv", data=b"1,2"),))


@given(parsers.parse('the resource offers "{first}" and "{second}"'))
def offers(schedule: Schedule, first: str, second: str) -> None:
    schedule.answer = RunResult(SUMMARY, choices=(Choice(first, "1"), Choice(second, "2")))


@then(parsers.parse('the channel shows the buttons "{first}" and "{second}"'))
def shows_buttons(schedule: Schedule, slack: Slack, first: str, second: str) -> None:
    assert schedule.sending.driver.wait_until(lambda: len(slack.messages) == 1), slack.messages
    _, actions = slack.messages[0]["blocks"]
    assert [button["text"]["text"] for button in actions["elements"]] == [first, second]


@when("admin saves it again")
def admin_saves(schedule: Schedule) -> None:
    body = {
        "id": schedule.id,
        "channelId": "cron",
        "channelName": "Summary",
        "config": {**BASE, "deliverInstanceId": schedule.sending.id, "deliverTo": ROOM},
        "downStreamResourceId": "workflow::7",
    }
    reply = schedule.sending.rest.create("admin", body)
    assert reply.outcome == "done", reply


@given("bob manages the schedule")
def manages(schedule: Schedule) -> None:
    share(schedule, schedule.id, 3)


@when("bob may answer with the Slack bot")
def may_answer(schedule: Schedule) -> None:
    share(schedule, schedule.sending.id, 2)


def share(schedule: Schedule, instance_id: int, level: int) -> None:
    rest = schedule.sending.rest
    rest.request("GET", "/api/agent/me", "bob")  # who is no user yet gets nothing
    path = f"/api/agent/channel-instances/{instance_id}/permissions"
    answer = rest.request("PUT", path, "ann", json={"userId": "bob", "level": level})
    assert answer.is_success, answer.text


@when(parsers.re("bob changes (?P<what>what it asks|where in Slack it delivers to)"))
def bob_changes(schedule: Schedule, what: str) -> None:
    config = {**BASE, "deliverInstanceId": schedule.sending.id, "deliverTo": ROOM}
    changes = {
        "what it asks": {"message": "And now?"},
        "where in Slack it delivers to": {"deliverTo": "C0OTHER"},
    }
    body = {"config": config | changes[what]}
    schedule.sending.replies.append(schedule.sending.rest.update("bob", schedule.id, body))


@then("the request is done")
def is_done(schedule: Schedule) -> None:
    assert schedule.sending.replies[-1].outcome == "done", schedule.sending.replies[-1]


@then("the file is in the channel")
def file_there(schedule: Schedule, slack: Slack) -> None:
    assert schedule.sending.driver.wait_until(lambda: len(slack.files) == 1), slack.files
    assert (slack.files[0]["channel_id"], slack.files[0]["title"]) == (ROOM, "sums.csv")
    assert list(slack.uploads.values()) == [b"1,2"]


@given("ann deletes the Slack bot")
def deletes(schedule: Schedule) -> None:
    assert schedule.sending.rest.delete("ann", schedule.sending.id).outcome == "done"


@when("it fires")
def fires(schedule: Schedule) -> None:
    schedule.fire()


@then(parsers.re(r'"(?P<text>[^"]+)" stands in (?P<place>the channel|the direct chat) once'))
def stands_once(schedule: Schedule, slack: Slack, text: str, place: str) -> None:
    channel = {"the channel": "C0ROOM", "the direct chat": "D0ADA"}[place]
    schedule.wait_done()
    assert schedule.sending.driver.wait_until(lambda: len(slack.messages) >= 1)
    assert [(each["channel"], each["text"]) for each in slack.messages] == [(channel, text)]
    assert schedule.sending.count("send") == 1


@then("nothing is sent")
def nothing_sent(schedule: Schedule, slack: Slack) -> None:
    schedule.wait_done()
    assert schedule.sending.count("outbox") == 0
    assert slack.messages == []


@then("the resource was asked twice")
def asked_twice(schedule: Schedule) -> None:
    assert len(schedule.resource.requests) == 2


@then("the schedule is healthy")
def healthy(schedule: Schedule) -> None:
    until(lambda: schedule.health()["healthy"], "the schedule is healthy")


@when("the schedule's health tells of the resource")
@then("the schedule's health tells of the resource")
def tells_of_resource(schedule: Schedule) -> None:
    _tells(schedule, "HTTP 500")


@then("the schedule's health says that nobody can give it")
def tells_of_approval(schedule: Schedule) -> None:
    _tells(schedule, "asks for an approval")


@then("the schedule's health says that there is no such instance")
def tells_of_instance(schedule: Schedule) -> None:
    _tells(schedule, f"you have no instance {schedule.sending.id}")


@then("the schedule's health says what an address is")
def tells_of_address(schedule: Schedule) -> None:
    _tells(schedule, "to: must be the id of a channel")


def _tells(schedule: Schedule, words: str) -> None:
    schedule.wait_done()
    until(lambda: words in (schedule.health()["processing"]["lastError"] or ""), f"the health says: {words}")


@when(parsers.re(r"ann asks for a schedule that delivers (?P<destination>.+)"))
def asks_for(schedule: Schedule, destination: str) -> None:
    sending = schedule.sending
    bob = {"channelId": "workspace-chat", "channelName": "B", "config": samples.CONFIG}
    destinations: dict[str, dict[str, Any]] = {
        "through an instance that does not exist": {"deliverInstanceId": 999_999},
        "through half an instance": {"deliverInstanceId": 1.5},
        "to the channel through no instance": {"deliverTo": "C0ROOM"},
        "through the Slack bot without a channel": {"deliverInstanceId": sending.id},
        "to two lines through the Slack bot": {"deliverInstanceId": sending.id, "deliverTo": "C0ROOM\nC1"},
    }
    if destination == "through bob's Slack bot":
        bobs = sending.rest.create("bob", bob).body["instanceId"]
        destinations[destination] = {"deliverInstanceId": bobs, "deliverTo": "C0ROOM"}
    if destination == "through another schedule":
        other = sending.create("cron", BASE, "Other")
        destinations[destination] = {"deliverInstanceId": other, "deliverTo": "C0ROOM"}
    body = {
        "channelId": "cron",
        "channelName": "Summary",
        "config": {**BASE, **destinations[destination]},
        "downStreamResourceId": "workflow::7",
    }
    sending.replies.append(sending.rest.create("ann", body))


@when("ann changes it to deliver through an instance that does not exist")
def changes(schedule: Schedule) -> None:
    config = {**BASE, "deliverInstanceId": 999_999}
    schedule.sending.replies.append(schedule.sending.rest.update("ann", schedule.id, {"config": config}))


@then(parsers.parse("the request is refused, naming {field}"))
def refused(schedule: Schedule, field: str) -> None:
    assert schedule.sending.last.outcome == "invalid", schedule.sending.last
    assert schedule.sending.last.error.startswith(f"config.{field}: ")
