"""The steps of subscriptions.feature, over both gateways; the addresses are servers on loopback."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Role
from domain.subscriptions.model import PUSH_HEADER
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.receiver import Receiver
from tests.support.subscriber import Subscriber
from tests.support.waiting import until

scenarios("subscriptions.feature")

BASE = "/api/agent/event-subscriptions"
WORDS = {400: "invalid", 403: "forbidden", 404: "not found", 409: "conflict"}
LONG_AGO = "now() - interval '6 days'"
CONSIDERED = """
SELECT (SELECT count(*) FROM event_log WHERE kind = 'message.received'), NOT EXISTS (
    SELECT FROM event_log WHERE kind = 'message.received'
    AND (id <= (SELECT position FROM event_position WHERE reader = 'subscriptions')) IS NOT TRUE
)
"""


class Scene:
    def __init__(self, world: World, rest: Rest, answers: Receiver) -> None:
        self.world, self.rest = world, rest
        self.answers = answers
        self.bots = {name: self._bot(user, name) for user, name in (("ann", "bot"), ("bob", "bob's bot"))}
        self.subscriber = Subscriber()
        self.id = self.written = 0
        self.replies: list[httpx.Response] = []

    def _bot(self, user: str, name: str) -> int:
        body = {
            "channelId": "http-webhook",
            "channelName": name,
            "config": {"responseWebhookUrl": self.answers.url},
            "downStreamResourceId": "agent::echo",
        }
        return int(self.rest.create(user, body).body["instanceId"])

    def add_bot(self, name: str) -> None:
        self.bots[name] = self._bot("ann", name)

    def write(self, text: str, name: str = "bot", who: str = "s") -> None:
        path = f"/api/agent/channels/http-webhook/{self.bots[name]}/webhook"
        assert self.rest.request("POST", path, json={"message": text, "sessionId": who}).status_code == 200
        self.written += 1

    def waiting(self) -> int:
        """Pushes that wait, once all that was written is on record and was considered."""
        until(
            lambda: (
                self.world.run(self.world.container.database().fetch_one(CONSIDERED)) == (self.written, True)
            ),
            "all events are considered",
        )
        return int(self.view()["pending"])

    def subscribe(self, user: str = "ann", **fields: Any) -> httpx.Response:
        body = {"url": self.subscriber.url, **fields}
        key = self.world.key_of(user, Role.ADMIN if user == "eve" else Role.MEMBER)
        reply = self.rest.request("POST", BASE, json=body, headers={"authorization": f"Bearer {key}"})
        self.replies.append(reply)
        if reply.status_code == 201:
            self.id, self.subscriber.secret = reply.json()["subscription"]["id"], reply.json()["secret"]
        return reply

    def ask(self, method: str, path: str = "", user: str = "ann", **options: Any) -> httpx.Response:
        return self.rest.request(method, f"{BASE}/{self.id}{path}", user, **options)

    def view(self) -> dict[str, Any]:
        reply = self.ask("GET")
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def log(self) -> list[dict[str, Any]]:
        return list(self.ask("GET", "/deliveries").json()["deliveries"])

    def pushes(self) -> list[dict[str, Any]]:
        """Those to the address, as an admin sees them; none where the subscription was deleted."""
        return list(self.ask("GET", "/deliveries", "admin").json().get("deliveries", ()))

    def manage(self, method: str, user: str, **options: Any) -> None:
        """Has an admin change or delete a user."""
        answer = self.rest.request(method, f"/api/agent/users/{user}", "admin", **options)
        assert answer.is_success, answer.text

    def execute(self, statement: str) -> None:
        self.world.run(self.world.container.database().execute(statement))

    def retry_now(self) -> None:
        self.execute("UPDATE outbox SET next_attempt_at = now() WHERE next_attempt_at IS NOT NULL")
        self.execute("UPDATE queue SET due_at = now() WHERE kind = 1 AND pending > 0 AND owner IS NULL")
        self.execute("DELETE FROM send_cooldown")
        self.execute("DELETE FROM send_breaker")


@pytest.fixture
def scene(world: World, rest: Rest) -> Iterator[Scene]:
    with Receiver() as answers:
        scene = Scene(world, rest, answers)
        with scene.subscriber:
            yield scene


@given(parsers.parse("{user} subscribes to all events"))
def subscribes(scene: Scene, user: str) -> None:
    assert scene.subscribe(user).status_code == 201


@given(parsers.re('(?P<user>ann|eve) subscribes to "(?P<kind>[^"]+)"(, and the address (?P<how>.+))?'))
def subscribes_to(scene: Scene, user: str, kind: str, how: str | None) -> None:
    statuses = {
        "fails 2 times": [503, 500],
        "redirects elsewhere": [302] * 20,
        "is gone": [410],
        "has failed for 5 days": [500] * 20,
        "has failed for 2 hours": [500] * 20,
    }
    scene.subscriber.statuses = statuses.get(how or "", [])
    if how and how.startswith("takes nothing"):
        scene.subscriber.refuses = lambda event: event.get("sessionId") in how or how == "takes nothing"
    assert scene.subscribe(user, kinds=[kind]).status_code == 201
    if how == "has failed for 5 days":
        scene.write("hello")
        until(lambda: bool(scene.subscriber.refused), "the address has failed")
        scene.execute(f"UPDATE outbox SET created_at = {LONG_AGO} WHERE instance_id = {scene.id}")
    if how == "has failed for 2 hours":
        scene.write("hello")
        until(lambda: bool(scene.subscriber.refused), "the address has failed")
        two_hours = "now() - interval '2 hours'"
        scene.execute(f"UPDATE outbox SET created_at = {two_hours} WHERE instance_id = {scene.id}")
        scene.execute(
            f"UPDATE channel_instance SET created_at = {two_hours}, updated_at = {two_hours} WHERE id = {scene.id}"
        )


@given('"hello" came to ann\'s bot, and was refused by the address')
def is_refused_once(scene: Scene) -> None:
    scene.write("hello")
    until(lambda: bool(scene.subscriber.refused), "the address has refused")


@when("an admin suspends ann")
def suspends(scene: Scene) -> None:
    scene.manage("PUT", "ann", json={"state": "suspended"})


@when("an admin makes eve, an admin, a member")
def demotes(scene: Scene) -> None:
    scene.manage("PUT", "eve", json={"role": "member"})


@when("an admin deletes ann in favour of bob")
def hands_over(scene: Scene) -> None:
    scene.manage("DELETE", "ann?successor=bob")


@when("the address takes what comes")
def takes_what_comes(scene: Scene) -> None:
    scene.subscriber.refuses = lambda event: False


@then(parsers.parse('the push is given up, as "{reason}"'))
def is_given_up(scene: Scene, reason: str) -> None:
    def is_dead() -> bool:
        scene.retry_now()
        return [push["status"] for push in scene.pushes()] == ["dead"]

    until(is_dead, "the push is given up")
    assert scene.pushes()[0]["error"].startswith(reason)


@then("the address is told nothing")
def is_told_nothing(scene: Scene) -> None:
    assert scene.subscriber.received == []


@then("bob has no subscription")
def has_none(scene: Scene) -> None:
    assert scene.rest.request("GET", BASE, "bob").json()["subscriptions"] == []


@then("no push is on its way")
def is_no_push(scene: Scene) -> None:
    database = scene.world.container.database()
    stored = "SELECT count(*) FROM outbox WHERE instance_id = %s"
    assert scene.world.run(database.fetch_value(stored, (scene.id,))) == 0


@given(parsers.parse('the version before has put {count:d} messages of "{who}" on their way'))
def put_before(scene: Scene, count: int, who: str) -> None:
    """It stored a push for each event at once, and knew no cursors."""
    for number in range(count):
        scene.write(f"{number}", who=who)
    scene.waiting()
    scene.execute("DELETE FROM push_cursor")
    scene.execute(
        f"""
        WITH pushed AS (
            INSERT INTO outbox (instance_id, session_key, message, target, key)
            SELECT {scene.id}, instance_id || ':' || session_key, json_build_object('event', id)::text,
                json_build_object('subscription', {scene.id})::text, 'push-' || id
            FROM event_log e WHERE kind = 'message.received' AND NOT EXISTS (
                SELECT FROM outbox o WHERE o.instance_id = {scene.id}
                AND (o.message::json ->> 'event')::bigint = e.id
            ) ORDER BY id RETURNING session_key
        )
        UPDATE queue SET pending = pending + (SELECT count(*) FROM pushed)
        WHERE kind = 1 AND instance_id = {scene.id}
        """
    )


@when(parsers.parse("{people:d} people write {count:d} messages each to ann's bot"))
def many_write(scene: Scene, people: int, count: int) -> None:
    for number in range(count):
        for person in range(people):
            scene.write(f"{number}", who=f"person {person}")


@when(parsers.parse('"{who}" writes {count:d} messages to ann\'s bot'))
def one_writes(scene: Scene, who: str, count: int) -> None:
    for _ in range(count):
        scene.write(f"{scene.written}", who=who)


@when("the address takes everything again")
def takes_again(scene: Scene) -> None:
    scene.waiting()
    scene.subscriber.refuses, scene.subscriber.statuses = lambda event: False, []


@then(parsers.parse("at most {most:d} pushes to ann's address wait"))
def few_wait(scene: Scene, most: int) -> None:
    assert 0 < scene.waiting() <= most


@then(parsers.parse("it is told of all {count:d} messages once, and of those of each person in order"))
def told_in_order(scene: Scene, count: int) -> None:
    def told() -> bool:
        scene.retry_now()
        return len({webhook_id for webhook_id, _ in scene.subscriber.received}) >= count

    until(told, "all is pushed")
    events = [event for _, event in scene.subscriber.received]
    assert len(events) == count
    for session in {event["sessionId"] for event in events}:
        ids = [event["id"] for event in events if event["sessionId"] == session]
        assert ids == sorted(ids)


@then(parsers.parse('the address is told of all {count:d} messages of "{who}"'))
def told_of(scene: Scene, count: int, who: str) -> None:
    def told() -> bool:
        return [event["sessionId"] for _, event in scene.subscriber.received].count(who) == count

    until(told, f"the messages of {who} are pushed")


@then(parsers.parse('the subscription is not healthy, as "{reason}"'))
def not_healthy(scene: Scene, reason: str) -> None:
    view = scene.view()
    assert (view["subscription"]["healthy"], view["health"]["healthy"]) == (False, False)
    assert view["subscription"]["problem"].startswith(reason)


@then("ann's list says so")
def list_says(scene: Scene) -> None:
    [listed] = scene.rest.request("GET", BASE, "ann").json()["subscriptions"]
    assert listed["healthy"] is False


@then("the subscription is healthy again")
def healthy_again(scene: Scene) -> None:
    def healthy() -> bool:
        scene.retry_now()
        return bool(scene.view()["subscription"]["healthy"])

    until(healthy, "the subscription is healthy")


@given("ann has a second bot")
def second_bot(scene: Scene) -> None:
    scene.add_bot("second bot")


@given("ann subscribes to the events of her second bot")
def subscribes_to_instance(scene: Scene) -> None:
    assert scene.subscribe(instanceIds=[scene.bots["second bot"]]).status_code == 201


@given('somebody wrote "early" to ann\'s bot and was answered')
def wrote_early(scene: Scene) -> None:
    scene.write("early")
    until(lambda: len(scene.answers.bodies) == 1, "the early message is answered")


@when(parsers.parse('somebody writes "{text}" to ann\'s {name}'))
def writes(scene: Scene, text: str, name: str) -> None:
    scene.write(text, name)


@when("bob tries his subscription")
def tries(scene: Scene) -> None:
    assert scene.ask("POST", "/test", "bob").json() == {"success": True, "error": None}


@then(parsers.re("the address is told (?P<kinds>.+)"))
def is_told(scene: Scene, kinds: str) -> None:
    expected = re.findall(r'"([^"]+)"', kinds)

    def told() -> bool:
        scene.retry_now()
        return len(scene.subscriber.received) >= len(expected)

    if "late" in expected:
        until(told, "the late message is pushed")
        assert [event["data"]["text"] for _, event in scene.subscriber.received] == expected
        return
    until(told, f"{expected} is pushed")
    assert scene.subscriber.kinds() == expected


@then("no events are on record but these 3")
def no_more_events(scene: Scene) -> None:
    until(lambda: {push["status"] for push in scene.log()} == {"sent"}, "all pushes count as sent")
    rows = scene.world.container.database().fetch(
        "SELECT count(*) FROM event_log WHERE kind <> 'reset' AND kind <> 'instance.health'"
    )
    assert scene.world.run(rows) == [(3,)]


@then("no two pushes have the same id")
def are_told_apart(scene: Scene) -> None:
    ids = [webhook_id for webhook_id, _ in scene.subscriber.received]
    assert len(ids) == len(set(ids)), ids


@then("each push is signed with ann's secret")
def is_signed(scene: Scene) -> None:
    """The address refuses, by an error, what is not."""
    ids = [webhook_id for webhook_id, _ in scene.subscriber.received]
    assert ids == [f"evt_{event['id']}" for _, event in scene.subscriber.received]
    assert ids == sorted(ids, key=lambda webhook_id: int(webhook_id.removeprefix("evt_")))


@then("all of that is about ann's second bot")
def about_second(scene: Scene) -> None:
    assert {event["instanceId"] for _, event in scene.subscriber.received} == {scene.bots["second bot"]}


@then("it got the same push 3 times")
def three_times(scene: Scene) -> None:
    [(taken, _)] = scene.subscriber.received
    assert scene.subscriber.refused == [taken, taken]


@then("the log says that it was sent at the 3rd try")
def log_says(scene: Scene) -> None:
    until(lambda: [push["status"] for push in scene.log()] == ["sent"], "the push counts as sent")
    [push] = scene.log()
    assert (push["attempts"], push["kind"], push["answer"]) == (3, "message.received", 200)


@then("the log holds a push that waits for its next try")
def log_waits(scene: Scene) -> None:
    until(lambda: any(push["attempts"] for push in scene.log()), "the push is tried")
    [push] = scene.log()
    assert (push["status"], push["error"], push["answer"]) == ("pending", "HTTP 302", 302)


@then("the log holds a push that was given up")
def log_dead(scene: Scene) -> None:
    until(lambda: [push["status"] for push in scene.log()] == ["dead"], "the push is given up")


@then(parsers.parse('the subscription is off, as "{reason}"'))
def is_off(scene: Scene, reason: str) -> None:
    until(lambda: scene.view()["subscription"]["status"] == "off", "it is switched off")
    assert scene.view()["subscription"]["reason"] == reason


@when("ann switches the subscription on again")
def switches_on(scene: Scene) -> None:
    reply = scene.ask("PUT", json={})
    assert reply.json()["subscription"]["status"] == "active"


@when("ann switches the subscription off")
def switches_off(scene: Scene) -> None:
    reply = scene.ask("PUT", json={"status": "off"})
    assert (reply.status_code, reply.json()["subscription"]["status"]) == (200, "off")


@when("ann sends the push again")
def replays(scene: Scene) -> None:
    [push] = scene.log()
    assert scene.ask("POST", f"/deliveries/{push['id']}/replay").status_code == 202


@when("the service looks after failing subscriptions")
def looks_after(scene: Scene) -> None:
    scene.world.run(scene.world.container.subscriptions().pushing.switch_off_failing())


@then("bob may not see, change, try or delete it, or see its log")
def others_may_not(scene: Scene) -> None:
    calls = [
        ("GET", "", {}),
        ("PUT", "", {"json": {}}),
        ("POST", "/test", {}),
        ("DELETE", "", {}),
        ("GET", "/deliveries", {}),
        ("POST", "/deliveries/1/replay", {}),
    ]
    assert {scene.ask(method, path, "bob", **body).status_code for method, path, body in calls} == {403}


@then("an admin may see it")
def admin_may(scene: Scene) -> None:
    assert scene.ask("GET", user="admin").status_code == 200


@then("it is in ann's list, and not in bob's")
def is_listed(scene: Scene) -> None:
    def ids(user: str) -> list[int]:
        answer = scene.rest.request("GET", BASE, user).json()
        return [subscription["id"] for subscription in answer["subscriptions"]]

    assert (ids("ann"), ids("bob")) == ([scene.id], [])


@when("ann deletes it")
def deletes(scene: Scene) -> None:
    assert scene.ask("DELETE").status_code == 204


@then("nothing is pushed")
def nothing(scene: Scene) -> None:
    until(lambda: len(scene.answers.bodies) == 1, "the message is answered")
    assert scene.subscriber.received == []


@then("it is not found")
def not_found(scene: Scene) -> None:
    assert {scene.ask(method).status_code for method in ("GET", "DELETE")} == {404}


@then("it is not in ann's list of instances, and cannot be reached as one")
def no_instance(scene: Scene) -> None:
    assert scene.id not in [instance["id"] for instance in scene.rest.instances("ann").body]
    assert scene.rest.instance("ann", scene.id).outcome == "not found"
    assert scene.rest.delete("ann", scene.id).outcome == "not found"


@when(parsers.parse("ann subscribes with {what}"))
def subscribes_with(scene: Scene, what: str) -> None:
    fields: dict[str, dict[str, Any]] = {
        "no address": {"url": None},
        "an address that is none": {"url": "ftp://events.example"},
        "a host that has no name": {"url": "http://xn--/"},
        "a host with a far too long name": {"url": f"http://{'a' * 1980}/"},
        "a password in the address": {"url": "https://ann:secret@events.example"},
        "the address of this service": {
            "url": "http://127.0.0.1:3011/api/agent/channels/http-webhook/1/webhook"
        },
        "this service, shortly written": {"url": "http://127.1:3011/api"},
        "this service, mapped to IPv6": {"url": "http://[::ffff:127.0.0.1]:3011/api"},
        "the address of cloud metadata": {"url": "http://169.254.169.254/latest"},
        "an unknown kind": {"kinds": ["message.read"]},
        "a short secret": {"secret": "whsec_c2hvcnQ="},
        "bob's bot": {"instanceIds": [scene.bots["bob's bot"]]},
        "a bot that is not there": {"instanceIds": [987654321]},
    }
    scene.subscribe(**fields[what])


@then(parsers.parse('that is refused as "{outcome}", naming "{field}"'))
def is_refused(scene: Scene, outcome: str, field: str) -> None:
    reply = scene.replies[-1]
    assert WORDS[reply.status_code] == outcome
    assert field in reply.json()["error"]


@when("ann subscribes 51 times")
def subscribes_often(scene: Scene) -> None:
    for _ in range(51):
        scene.subscribe()


@then('50 of them are accepted, and the last is refused as "conflict"')
def most_accepted(scene: Scene) -> None:
    assert [reply.status_code for reply in scene.replies] == [201] * 50 + [409]


@when("a push reaches the webhook of ann's bot")
def push_reaches(scene: Scene) -> None:
    path = f"/api/agent/channels/http-webhook/{scene.bots['bot']}/webhook"
    headers = {PUSH_HEADER: "7"}
    scene.replies.append(scene.rest.request("POST", path, json={"id": 7}, headers=headers))
