"""The steps of approvals.feature."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.storage.events import PostgresEventLog
from adapters.outbound.storage.queue.conversations import PostgresConversations
from adapters.outbound.storage.queue.sends import PostgresSends
from domain.channels.answers import Choice
from domain.channels.provenance import Usage
from domain.channels.rich import ConversationChange, Form, FormField, RichContent
from domain.events import EventKind
from domain.refusals import Unavailable
from domain.routing.model import Confirmation, ResultArtifact, RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.features.conversations.scene import PEOPLE
from tests.features.conversations.scene import Scene as Conversations
from tests.support.event_log import events_of, listening
from tests.support.platforms.telegram import TOKEN
from tests.support.waiting import until

EDGE = samples.SETTING
APPROVALS = "/api/agent/approvals"
PARAMETERS = {"order": 4711}
FAULTY: dict[str, list[dict[str, Any]]] = {
    "an unknown user": [{"tool": "x", "by": "user:nobody"}],
    "an unknown team": [{"tool": "x", "by": "team:99"}],
    "a wrong word": [{"tool": "x", "by": "boss"}],
    "no tool": [{"tool": " ", "by": "user:ann"}],
    "too long a time": [{"tool": "x", "by": "user:ann", "minutes": 99999}],
    "minutes for the sender": [{"tool": "x", "minutes": 5}],
    "too many rules": [{"tool": "x"}] * 51,
}
UNTOLD = "SELECT (SELECT count(*) FROM notification_cause) + (SELECT count(*) FROM notification_delivery)"
DONE = "Your money comes back."
scenarios("approvals.feature", "aftermath.feature")


class Scene(Conversations):
    """A bot of ann's whose resource asks before it uses a tool, and colleagues who decide."""

    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        super().__init__(world, rest, driver)
        self.resource.script = self.script
        self.by = "sender"
        self.teams: dict[str, int] = {}
        self.refusal = ""
        self.answers: list[Any] = []
        self.then: RunResult | Exception = RunResult(DONE)
        """What the resource does when it hears that the first tool was approved."""
        self.done = asyncio.Event()

    def script(self, request: RunRequest) -> RunResult:
        if request.approval is not None:
            if isinstance(self.then, Exception):
                raise self.then
            is_first = request.approval.tool == "refund"
            return (
                (self.then if is_first else RunResult(DONE)) if request.approval.permits else RunResult("No.")
            )
        if request.text == "money back" and "refund" not in request.approved_tools:
            asked = Confirmation("refund", PARAMETERS, self.by)
            return RunResult("I look into it.", confirmation=asked, usage=Usage(9, 4))
        return RunResult(f"heard {request.text}")

    def do(self, method: str, path: str, user: str, body: Any = None) -> Any:
        response = self.ask(method, path, user, **({} if body is None else {"json": body}))
        assert response.is_success, response.text
        return response.json() if response.content else None

    def save(self, policy: list[dict[str, Any]]) -> Any:
        body = {"config": {"botToken": TOKEN}, "approvalPolicy": policy}
        return self.ask("PUT", self.path, "ann", json=body)

    def named(self, who: str) -> str:
        kind, _, name = who.removeprefix("the ").partition(" ")
        return (
            f"team:{self.teams[name]}" if kind == "team" else f"user:{name}" if kind == "user" else "sender"
        )

    def told(self) -> list[RunRequest]:
        return [request for request in self.resource.requests if request.approval]

    def approvals(self, user: str, **query: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.do("GET", APPROVALS, user)["approvals"]
        return found

    def decide(self, user: str, decision: str, reason: str = "") -> Any:
        approval = self.approvals("admin")[0]
        path = f"{APPROVALS}/{approval['id']}/decision"
        return self.ask("POST", path, user, json={"decision": decision, "reason": reason})

    def wait_told(self) -> list[RunRequest]:
        until(lambda: bool(self.told()), "the resource is told")
        until(
            lambda: self.value("SELECT count(*) FROM approval_request WHERE finished_at IS NULL") == 0, "told"
        )
        self.settle()
        return self.told()

    def plain(self, who: str) -> list[str]:
        return [text.replace("<code>", "").replace("</code>", "") for text in self.got(who)]

    def notify(self) -> None:
        self.settle()
        self.world.run(self.world.container.notification_writer().work())
        self.world.run(self.world.container.notification_delivery().work())
        until(lambda: self.value(UNTOLD) == 0, "all are notified")
        self.settle()

    def press(self, who: str, label: str, data: str = "") -> None:
        calls = [call for call in self.platform.of("sendMessage") if "reply_markup" in call]
        calls = [call for call in calls if str(call["chat_id"]) == str(PEOPLE[who][2])]
        rows = calls[-1]["reply_markup"]["inline_keyboard"] if calls else []
        values = {button["text"]: button["callback_data"] for row in rows for button in row}
        number = next(self.updates)
        person = {"id": PEOPLE[who][2], "is_bot": False, "first_name": PEOPLE[who][0]}
        chat = {"id": PEOPLE[who][2], "type": "private"}
        message = {"message_id": 30, "date": 1780000000 + number, "chat": chat, "text": "?"}
        query = {"id": str(number), "from": person, "chat_instance": "-1", "message": message}
        query["data"] = data or values[label]
        self.deliver({"update_id": number, "callback_query": query})
        self.settle()


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Scene:
    world.clock.stop()
    return Scene(world, rest, platform_driver)


@given('a bot of ann whose resource wants to use the tool "refund"')
def bot(scene: Scene) -> None:
    scene.create("ann")
    for user in ("bob", "cleo", "dora", "admin"):
        scene.do("GET", "/api/agent/me", user)


@given("the team Billing of bob and cleo")
def team(scene: Scene) -> None:
    body = {"name": "Billing", "members": [{"userId": "bob"}, {"userId": "cleo"}]}
    scene.teams["Billing"] = scene.do("POST", "/api/agent/teams", "admin", body)["id"]


@given(parsers.re(r'(?P<who>the sender|the team \w+|the user \w+) decides about "(?P<tool>[^"]+)"$'))
def policy(scene: Scene, who: str, tool: str) -> None:
    response = scene.save([{"tool": tool, "by": scene.named(who)}])
    assert response.is_success, response.text


@given(parsers.parse('the team Billing decides about "refund" within {minutes:d} minutes'))
def policy_in_time(scene: Scene, minutes: int) -> None:
    scene.save([{"tool": "refund", "by": scene.named("the team Billing"), "minutes": minutes}])


@given(parsers.re(r"the resource names (?P<who>.+)"))
def names(scene: Scene, who: str) -> None:
    scene.by = scene.named(who)


@given('ada has approved "refund" for the session')
def approved_for_session(scene: Scene) -> None:
    scene.write("ada", "money back")
    scene.settle()
    scene.write("ada", "always")
    scene.settle()


@given("bob wants messages about approvals to bert's conversation with the bot")
def wants_messages(scene: Scene) -> None:
    scene.write("bert", "hello")
    scene.settle()
    scene.do("PUT", f"{scene.path}/permissions", "ann", {"userId": "bob", "level": 2})
    via = {"instanceId": scene.bots["ann"], "to": "102"}
    settings = {"kinds": {"approval": ["message"]}, "notifyVia": via}
    scene.do("PUT", "/api/agent/me/notifications", "bob", settings)


@given("somebody follows the events", target_fixture="event_log")
def follows(scene: Scene) -> PostgresEventLog:
    return scene.world.run(listening(scene.world.container.database()))


@when(parsers.re(r'ada writes "(?P<text>[^"]+)"'))
def writes(scene: Scene, text: str) -> None:
    scene.write("ada", text)
    scene.settle()
    scene.notify()


@when(parsers.re(r'(?P<who>bob|cleo|admin) (?P<what>approves|rejects) it(, because "(?P<reason>[^"]+)")?$'))
def decides(scene: Scene, who: str, what: str, reason: str | None) -> None:
    response = scene.decide(who, {"approves": "approved", "rejects": "rejected"}[what], reason or "")
    assert response.is_success, response.text
    assert response.json()["decidedBy"] == who


@when("bob approves and cleo rejects at the same time")
def at_once(scene: Scene) -> None:
    with ThreadPoolExecutor(2) as pool:
        tries = [pool.submit(scene.decide, "bob", "approved"), pool.submit(scene.decide, "cleo", "rejected")]
        scene.answers = [each.result() for each in tries]


@when(parsers.parse("{minutes:d} minutes pass"))
def passes(scene: Scene, minutes: int) -> None:
    scene.world.clock.advance(timedelta(minutes=minutes))


@when("bob approves it, and the process dies while the tool is used")
def dies(scene: Scene) -> None:
    """What such a process leaves behind: a request that it had begun to tell."""
    database = scene.world.container.database()
    scene.world.run(database.execute("UPDATE approval_request SET begun = true"))
    assert scene.decide("bob", "approved").is_success


@when("dora takes the conversation over")
def takes_over(scene: Scene) -> None:
    scene.do("PUT", f"{scene.path}/permissions", "ann", {"userId": "dora", "level": 2})
    scene.do("PUT", f"{scene.of('ada')}/handler", "dora", {"handler": "person"})


@when("bob leaves the team")
def leaves(scene: Scene) -> None:
    path = f"/api/agent/teams/{scene.teams['Billing']}"
    scene.do("PUT", path, "admin", {"members": [{"userId": "cleo"}]})


@when('ann has bert\'s conversation, and bert presses "Approve"')
def presses_while_held(scene: Scene) -> None:
    assert scene.hand_over("bert").is_success
    scene.press("bert", "Approve")


@when("ann gives bert's conversation back")
def gives_back(scene: Scene) -> None:
    assert scene.hand_over("bert", "resource").is_success


@given("admin suspends bob")
@when("admin suspends bob")
def suspends(scene: Scene) -> None:
    scene.do("PUT", "/api/agent/users/bob", "admin", {"state": "suspended"})


@given("admin deletes bob")
def deletes_bob(scene: Scene) -> None:
    scene.do("DELETE", "/api/agent/users/bob", "admin")


@given("admin deletes the team")
def deletes_team(scene: Scene) -> None:
    scene.do("DELETE", f"/api/agent/teams/{scene.teams['Billing']}", "admin")


@then('admin is notified that "refund" waits')
def admin_notified(scene: Scene) -> None:
    [notification] = scene.do("GET", "/api/agent/notifications", "admin")["notifications"]
    assert (notification["kind"], notification["data"]["tool"]) == ("approval", "refund")


@when(parsers.parse('bert presses "{label}"'))
def presses(scene: Scene, label: str) -> None:
    scene.press("bert", label)


@when("ada sends the button of an approver with a false proof")
def made_up(scene: Scene) -> None:
    [approval] = scene.approvals("admin")
    scene.press("ada", "", f"approval:1:{approval['id']}.{'0' * 24}")


@when(parsers.parse("ann saves a policy with {fault}"))
def saves(scene: Scene, fault: str) -> None:
    response = scene.save(FAULTY[fault])
    assert response.status_code == 400, response.text
    scene.refusal = response.text


@then(parsers.parse("it is refused: {refusal}"))
def refused(scene: Scene, refusal: str) -> None:
    assert refusal in scene.refusal


@then(parsers.re(r'ada reads "(?P<text>[^"]+)"$'))
@then(parsers.re(r'ada reads "(?P<text>[^"]+)" and what the resource says'))
def ada_reads(scene: Scene, text: str) -> None:
    until(lambda: any(text in got for got in scene.plain("ada")), f"ada reads {text}: {scene.plain('ada')}")


@then(parsers.re(r'bert reads "(?P<text>[^"]+)"$'))
def bert_reads(scene: Scene, text: str) -> None:
    until(
        lambda: any(text in got for got in scene.plain("bert")), f"bert reads {text}: {scene.plain('bert')}"
    )


@then(parsers.parse('bert is told about his press "{text}"'))
def bert_told(scene: Scene, text: str) -> None:
    answers = scene.platform.of
    until(
        lambda: text in [each.get("text") for each in answers("answerCallbackQuery")], f"bert is told {text}"
    )
    assert not scene.platform.of("editMessageText"), "the question still has its buttons"


@then(parsers.parse('bert reads "{text}" with the parameters and two buttons'))
def bert_asked(scene: Scene, text: str) -> None:
    [call] = [call for call in scene.platform.of("sendMessage") if "reply_markup" in call]
    assert text in call["text"].replace("<code>", "").replace("</code>", "")
    assert "4711" in call["text"]
    labels = [button["text"] for row in call["reply_markup"]["inline_keyboard"] for button in row]
    assert labels == ["Approve", "Reject"]


@then(parsers.re(r'(?P<who>.+) sees? that "refund" (was )?(?P<state>waits|approved|rejected)'))
def see(scene: Scene, who: str, state: str) -> None:
    for user in who.split(" and "):
        [approval] = scene.approvals(user)
        assert approval["state"] == ("waiting" if state == "waits" else state)
        assert (approval["tool"], approval["parameters"]) == ("refund", PARAMETERS)
        assert (approval["sender"], approval["text"]) == ("Ada Lovelace", "money back")


@then(parsers.re(r"(?P<who>\w+) sees no approval"))
def sees_none(scene: Scene, who: str) -> None:
    assert scene.approvals(who) == []


@then("cleo may not decide")
def may_not(scene: Scene) -> None:
    assert scene.decide("cleo", "approved").status_code == 403


@then("bob cannot decide any more")
def too_late(scene: Scene) -> None:
    assert scene.decide("bob", "approved").status_code == 409


@then(parsers.parse("{who} is asked"))
def is_asked(scene: Scene, who: str) -> None:
    [approval] = scene.approvals("admin")
    assert approval["approver"] == who.replace("Billing", str(scene.teams["Billing"]))


@then(parsers.re(r'the resource is told once that "refund" was (?P<decision>\w+)'))
def told_once(scene: Scene, decision: str) -> None:
    until(lambda: bool(scene.told()), "the resource is told")
    scene.wait_told()
    [request] = scene.told()
    assert request.approval is not None
    assert (request.approval.tool, request.approval.decision) == ("refund", decision)
    assert (request.text, request.sender.external_id) == ("money back", "101")


@then("the resource is told once")
def told(scene: Scene) -> None:
    assert len(scene.wait_told()) == 1


@then("the resource is not told once more")
def not_told(scene: Scene) -> None:
    assert scene.told() == []


@then(parsers.parse('the resource gets "{text}" as a message'))
def gets(scene: Scene, text: str) -> None:
    assert scene.resource.requests[-1].text == text
    assert scene.resource.requests[-1].approval is None


@then("one of them is told who was faster")
def faster(scene: Scene) -> None:
    by_status = {answer.status_code: answer for answer in scene.answers}
    assert set(by_status) == {200, 409}
    winner = by_status[200].json()
    assert f"by `{winner['decidedBy']}`" in by_status[409].json()["error"]


@then("nobody has decided")
def undecided(scene: Scene) -> None:
    [approval] = scene.approvals("admin")
    assert approval["state"] == "waiting"
    assert scene.told() == []


@then(parsers.re(r'the audit log says that bob (?P<decision>\w+) "refund"(?P<more>.*)'))
def audit(scene: Scene, decision: str, more: str) -> None:
    [entry] = scene.do("GET", "/api/agent/audit?action=approval.decided", "admin")["entries"]
    assert entry["actor"]["userId"] == "bob"
    data = entry["data"]
    assert (data["decision"], data["tool"], data["parameters"]) == (decision, "refund", PARAMETERS)
    assert data["message"].startswith(f"instance:{scene.bots['ann']}/message:in-")
    assert "Ada" not in str(entry)
    if more:
        assert data["reason"] == "It is broken."


@then(parsers.parse('the audit log says that the sender {decision} "refund"'))
def audit_of_sender(scene: Scene, decision: str) -> None:
    [entry] = scene.do("GET", "/api/agent/audit?action=approval.decided", "admin")["entries"]
    assert entry["object"].startswith("confirmation:")
    assert entry["actor"]["userId"] == ""
    data = entry["data"]
    assert (data["approver"], data["decision"], data["parameters"]) == ("sender", decision, PARAMETERS)


@then('the timeline says that team:Billing was asked and bob rejected it because "It is broken."')
def timeline(scene: Scene) -> None:
    [message] = [each for each in scene.messages("ada") if each["direction"] == "in"]
    steps = scene.read(f"{scene.path}/messages/{message['id']}/timeline")["steps"]
    asked, decided = (step for step in steps if step["kind"] in ("tool_asked", "tool_decided"))
    assert (asked["tool"], asked["decider"]) == ("refund", f"team:{scene.teams['Billing']}")
    assert asked["parameters"] == PARAMETERS
    assert (decided["decision"], decided["decider"]) == ("rejected", "bob")
    assert decided["reason"] == "It is broken."


@then('the events say that "refund" was asked and rejected by bob')
def events(scene: Scene, event_log: PostgresEventLog) -> None:
    found = {event.kind: event.data for event in scene.world.run(events_of(event_log))}
    asked, decided = found[EventKind.CONFIRMATION_ASKED], found[EventKind.CONFIRMATION_DECIDED]
    assert asked["confirmationId"] == decided["confirmationId"]
    assert (decided["tool"], decided["decision"], decided["decider"]) == ("refund", "rejected", "bob")


FAILURES: dict[str, Exception] = {
    "answers too late": DownstreamFailed("no answer within 120 s", retryable=False),
    "cannot be reached": DownstreamFailed("nobody listens there", retryable=False, begun=False),
    "raises an error of the service itself": ValueError("a fault of the service"),
}


@when(parsers.re(r"the resource then (?P<fails>answers too late|cannot be reached|raises an error .+)"))
def then_fails(scene: Scene, fails: str) -> None:
    scene.then = FAILURES[fails]


@when('the resource then offers "Cash" and "Voucher"')
def then_offers(scene: Scene) -> None:
    scene.then = RunResult("How?", choices=(Choice("Cash", ""), Choice("Voucher", "")))


@when('the resource then sends the file "receipt.txt"')
def then_sends_file(scene: Scene) -> None:
    scene.then = RunResult("Here.", (ResultArtifact("receipt.txt", "text/plain", data=b"4711"),))


@when("the resource then wants a person")
def then_wants_person(scene: Scene) -> None:
    scene.then = RunResult("A colleague goes on.", wants_person=True)


@when('the resource then labels the conversation "refunded"')
def then_labels(scene: Scene) -> None:
    scene.then = RunResult("Labelled.", change=ConversationChange(add_labels=("refunded",)))


@when("the resource then asks for the account by a form")
def then_asks_form(scene: Scene) -> None:
    form = Form("Account", (FormField("account", "Account number", required=True),))
    scene.then = RunResult("", rich=RichContent(form=form))


@when(parsers.parse('the resource then wants the tool "{tool}"'))
def then_wants_tool(scene: Scene, tool: str) -> None:
    scene.then = RunResult("", confirmation=Confirmation(tool, PARAMETERS))


@when('the team Billing decides about "refund*"')
def decides_about_more(scene: Scene) -> None:
    policy(scene, "the team Billing", "refund*")


@when("the database is away for a moment once the resource has answered")
def away(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    outages = iter([Unavailable("the database is away", 0.05)] * 2)
    for service, name in ((PostgresConversations, "note"), (PostgresSends, "add")):
        inner = getattr(service, name)

        async def shaky(*arguments: Any, inner: Any = inner, **named: Any) -> Any:
            if outage := next(outages, None):
                raise outage
            return await inner(*arguments, **named)

        monkeypatch.setattr(service, name, shaky)


@when("the resource then takes its time with ada")
def takes_time(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.done, run = scene.world.run(_event()), scene.resource.run

    async def slow(request: RunRequest) -> RunResult:
        if request.approval and request.sender.external_id == "101":
            await scene.done.wait()
        return await run(request)

    monkeypatch.setattr(scene.resource, "run", slow)


async def _event() -> asyncio.Event:
    return asyncio.Event()


@when("the resource has done it")
def has_done(scene: Scene) -> None:
    async def set_done() -> None:
        scene.done.set()

    scene.world.run(set_done())


@when('bert writes "money back"')
def bert_writes(scene: Scene) -> None:
    scene.write("bert", "money back")
    scene.settle()


@when("bob approves all")
def approves_all(scene: Scene) -> None:
    """The slow one first."""
    for approval in reversed(scene.approvals("bob")):
        scene.do("POST", f"{APPROVALS}/{approval['id']}/decision", "bob", {"decision": "approved"})


@when("ann erases ada's conversation")
def erases(scene: Scene) -> None:
    scene.do("DELETE", scene.of("ada"), "ann")


@when("ann deletes the bot")
def deletes(scene: Scene) -> None:
    scene.do("DELETE", scene.path, "ann")


@when("ann gives the bot another resource")
def rebinds(scene: Scene) -> None:
    body = {"config": {"botToken": TOKEN}, "downStreamResourceId": "agent::other"}
    scene.do("PUT", scene.path, "ann", body)


@when(parsers.parse('ada presses "{label}"'))
def ada_presses(scene: Scene, label: str) -> None:
    scene.press("ada", label)


@then("the instance is not well")
def not_well(scene: Scene) -> None:
    until(lambda: not scene.rest.health("ann", scene.bots["ann"]).body["healthy"], "the health tells it")


@then(parsers.parse('ada does not yet read "{text}"'))
def not_yet(scene: Scene, text: str) -> None:
    assert not any(text in got for got in scene.got("ada"))


@then("no approval is left")
def none_left(scene: Scene) -> None:
    assert scene.approvals("admin") == []
    assert scene.approvals("bob") == []


@then('ada gets the file "receipt.txt"')
def gets_file(scene: Scene) -> None:
    until(
        lambda: (
            bool(scene.platform.of("sendDocument")) or any("receipt.txt" in got for got in scene.got("ada"))
        ),
        "ada gets the file",
    )


@then("the conversation waits for a person")
def waits_for_person(scene: Scene) -> None:
    [conversation] = scene.conversations()
    assert conversation["handler"] == "person"


@then('the conversation has the label "refunded"')
def has_label(scene: Scene) -> None:
    [conversation] = scene.conversations()
    assert conversation["labels"] == ["refunded"]


@then('the resource gets the form with "4711"')
def gets_form(scene: Scene) -> None:
    request = scene.resource.requests[-1]
    assert request.approval is None
    assert "4711" in str(request.form)


@then(parsers.re(r'the resource is told that "(?P<one>\w+)" and "(?P<two>\w+)" were approved'))
def told_both(scene: Scene, one: str, two: str) -> None:
    until(lambda: len(scene.told()) == 2, "the resource is told")
    scene.wait_told()
    approvals = [request.approval for request in scene.told() if request.approval]
    assert [(a.tool, a.decision) for a in approvals] == [(one, "approved"), (two, "approved")]


@when("the budget of the bot is used up")
def used_up(scene: Scene) -> None:
    scene.do("PUT", "/api/agent/budgets", "ann", {"instanceId": scene.bots["ann"], "tokens": 5})
    scene.world.run(scene.world.container.storage().budget_guard.refresh())


@given(parsers.re(r"a schedule of ann's that delivers (?P<where>to ada through the bot|nowhere)"))
def schedule(scene: Scene, where: str) -> None:
    scene.write("ada", "hello")
    scene.settle()
    delivers = {} if where == "nowhere" else {"deliverInstanceId": scene.bots["ann"], "deliverTo": "101"}
    config = {"cronSchedule": "0 9 * * 1", "message": "money back", **delivers}
    policy = [{"tool": "refund", "by": scene.named("the team Billing")}]
    body = {"channelId": "cron", "channelName": "Mornings", "config": config, "approvalPolicy": policy}
    created = scene.rest.create("ann", {**body, "downStreamResourceId": "agent::parrot"})
    assert created.outcome == "created", created.body
    scene.second = int(created.body["instanceId"])


@when("the schedule asks for money back")
def fires(scene: Scene) -> None:
    reply = scene.rest.call("cron", scene.second, b"", {}, "manual_trigger")
    assert reply.outcome == "accepted", reply
    until(lambda: scene.value("SELECT count(*) FROM approval_request") == 1, "somebody is asked")
    scene.settle()


@then("the schedule is well")
def schedule_well(scene: Scene) -> None:
    assert scene.rest.health("ann", scene.second).body["healthy"]


@then("bob lists one approval that waits and one that was decided, on pages of one")
def lists_pages(scene: Scene) -> None:
    page = scene.do("GET", f"{APPROVALS}?limit=1", "bob")
    [last] = page["approvals"]
    rest = scene.do("GET", f"{APPROVALS}?limit=1&cursor={page['next']}", "bob")
    [first] = rest["approvals"]
    assert (last["state"], first["state"], rest["next"]) == ("approved", "waiting", None)
    for state, expected in (("waiting", first), ("decided", last)):
        listed = scene.do("GET", f"{APPROVALS}?state={state}", "bob")["approvals"]
        assert [approval["id"] for approval in listed] == [expected["id"]]


@then("bob reads each of them by its number")
def reads_each(scene: Scene) -> None:
    for approval in scene.approvals("bob"):
        assert scene.do("GET", f"{APPROVALS}/{approval['id']}", "bob") == approval


@then("dora may read none of them")
def may_read_none(scene: Scene) -> None:
    for approval in scene.approvals("bob"):
        refused = scene.ask("GET", f"{APPROVALS}/{approval['id']}", "dora")
        assert refused.status_code == 403
        assert "and admins decide" in refused.json()["error"]


@then("there is no approval 4711 for bob")
def no_such(scene: Scene) -> None:
    assert scene.ask("GET", f"{APPROVALS}/4711", "bob").status_code == 404
    decision = {"decision": "approved"}
    assert scene.ask("POST", f"{APPROVALS}/4711/decision", "bob", json=decision).status_code == 404


@then("nothing but approved and rejected is a decision")
def no_decision(scene: Scene) -> None:
    for decision in ("approved_for_session", "", "APPROVED"):
        path = f"{APPROVALS}/{scene.approvals('bob')[0]['id']}/decision"
        assert scene.ask("POST", path, "bob", json={"decision": decision}).status_code == 400
