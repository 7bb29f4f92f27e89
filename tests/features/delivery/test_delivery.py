"""The steps of delivery.feature."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.channels.bot_messenger.webhook import secret_of
from domain.routing.conversation import APOLOGY
from domain.routing.model import RunRequest, RunResult
from ports.outbox import QueuedMessage
from ports.queue import QueueKey
from ports.resources import DownstreamFailed
from tests.drivers.passing import FAR, pass_time
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Reply, Rest
from tests.drivers.world import World
from tests.support.platforms import standin
from tests.support.platforms.telegram import TOKEN, Telegram, refusal
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("delivery.feature")

OTHER_TOKEN = "123456789:AAanother-token_of_another_bot"
CHATS = {"kim": 101, "lee": 102, "max": 103, **{f"person {n}": 200 + n for n in range(5)}}
ROUNDED = timedelta(milliseconds=10)
"""So much a time stamp may lack of the moment that it tells."""


class Bots(Telegram):
    """Telegram with two bots; `trouble` answers in its place where it has an answer."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__()
        self.now = now
        self.trouble: Callable[[int], standin.Reply | None] = lambda chat: None
        self.tries: list[tuple[int, str]] = []
        self.tried_at: list[datetime] = []
        self.taken: list[tuple[int, str, datetime]] = []

    def answer(self, seen: standin.Seen) -> standin.Reply:
        return super().answer(replace(seen, path=seen.path.replace(OTHER_TOKEN, TOKEN)))

    def _sendMessage(self, payload: dict[str, Any]) -> standin.Reply:  # noqa: N802
        chat, text = payload["chat_id"], payload["text"]
        self.tries.append((chat, text))
        self.tried_at.append(datetime.now(UTC))
        reply = self.trouble(chat) or super()._sendMessage(payload)
        if reply.status == 200:
            self.taken.append((chat, text, self.now()))
        return reply


class Scene:
    """A bot, those who write to it, and what they get."""

    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        self.world = world
        self.rest = rest
        self.driver = driver
        self.platform = Bots(world.clock.now)
        driver.show(self.platform)
        self.resource = Resource(world, lambda request: RunResult(request.text))
        self.numbers = count(1)
        self.bots = [self.create(TOKEN)]
        self.written: Counter[int] = Counter()
        self.replies: list[Reply] = []
        self.delays: list[float] = []
        self.dead_id = 0
        self.asked_at = world.clock.now()

    def create(self, token: str) -> int:
        body = {
            "channelId": "bot-messenger",
            "channelName": token[:9],
            "config": {"botToken": token},
            "downStreamResourceId": "agent::parrot",
        }
        return int(self.rest.create("ann", body).body["instanceId"])

    def write(self, who: str, text: str, *, topic: int | None = None, bot: int = 0) -> None:
        number, chat = next(self.numbers), CHATS[who]
        person = {"id": chat, "is_bot": False, "first_name": who}
        message: dict[str, Any] = {
            "message_id": number,
            "date": 1780000000 + number,
            "chat": {"id": chat, "type": "private"},
            "from": person,
            "text": text,
        }
        if topic is not None:
            message |= {"message_thread_id": topic, "is_topic_message": True}
        token = TOKEN if bot == 0 else OTHER_TOKEN
        call = samples.posted({"update_id": number, "message": message}, secret_of(token))
        reply = self.rest.call("bot-messenger", self.bots[bot], call.body, call.headers, "webhook")
        assert reply.outcome == "done", reply
        self.written[bot] += 1

    def got(self, who: str) -> list[str]:
        return [text for chat, text, _ in self.platform.taken if chat == CHATS[who]]

    def deliveries(self, status: str | None = None) -> list[dict[str, Any]]:
        found = self.rest.deliveries("ann", self.bots[0], status)
        return list(found.body["deliveries"])

    def wait_deliveries(self, ready: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """The first bot's, once there are some and they are as they should be."""
        found: list[dict[str, Any]] = []

        def are_ready() -> bool:
            found[:] = self.deliveries()
            return bool(found) and ready(found)

        until(are_ready, "deliveries are as they should be")
        return found

    def health(self) -> dict[str, Any]:
        return dict(self.rest.health("ann", self.bots[0]).body)

    def waits_for(self, attempt: int, seconds: float) -> None:
        """After so many tries the first reply waits for its next one, for so long and up to a fifth more."""
        found = self.wait_deliveries(lambda found: found[0]["attempts"] == attempt)[0]
        assert found["status"] == "pending"
        delay = self.delays[attempt - 1]
        assert seconds <= delay <= seconds * 1.2
        began = datetime.fromisoformat(found["nextAttemptAt"]) - FAR - timedelta(seconds=delay)
        assert self.platform.tried_at[attempt - 1] - ROUNDED <= began <= datetime.now(UTC) + ROUNDED


@pytest.fixture
def scene(
    world: World, rest: Rest, platform_driver: PlatformDriver, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Scene]:
    """What is to be tried again is put off until time is made to pass."""
    made = Scene(world, rest, platform_driver)
    outbox = world.container.storage().outbox
    retry = outbox.retry

    async def put_off(key: QueueKey, part: QueuedMessage, error: str, delay: float) -> None:
        made.delays.append(delay)
        await retry(key, part, error, delay + FAR.total_seconds())

    monkeypatch.setattr(outbox, "retry", put_off)
    yield made
    assert made.platform.faults == []


# --- given


@given("the platform answers that it is broken")
def broken(scene: Scene) -> None:
    scene.platform.trouble = lambda chat: refusal(502, "Bad Gateway")


@given("the platform fails in kim's chat alone")
def broken_for_kim(scene: Scene) -> None:
    scene.platform.trouble = lambda chat: refusal(500, "Internal") if chat == CHATS["kim"] else None


def _asks(scene: Scene, seconds: int, chats: set[int]) -> None:
    wish = refusal(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)
    scene.platform.trouble = lambda chat: wish if chat in chats else None


@given(parsers.parse("the platform asks to wait for {seconds:d} seconds in kim's chat"))
def asks_kim(scene: Scene, seconds: int) -> None:
    _asks(scene, seconds, {CHATS["kim"]})


@given(parsers.parse("the platform asks to wait for {seconds:d} seconds in kim's chat and in lee's"))
def asks_both(scene: Scene, seconds: int) -> None:
    _asks(scene, seconds, {CHATS["kim"], CHATS["lee"]})


@given("the platform says that kim has blocked the bot")
def blocked(scene: Scene) -> None:
    words = "Forbidden: bot was blocked by the user"
    scene.platform.trouble = lambda chat: refusal(403, words) if chat == CHATS["kim"] else None


@given("the platform says that the bot is not known")
def unknown_bot(scene: Scene) -> None:
    scene.platform.trouble = lambda chat: refusal(401, "Unauthorized")


@then(parsers.re("the bot is (?P<negated>not )?healthy"))
def is_healthy(scene: Scene, negated: str | None) -> None:
    assert scene.health()["healthy"] is (negated is None)


@given("a resource that fails")
def resource_fails(scene: Scene) -> None:
    def fail(request: RunRequest) -> RunResult:
        raise DownstreamFailed("it answered 500", retryable=False)

    scene.resource.script = fail


@when("the resource works again")
def resource_works(scene: Scene) -> None:
    scene.resource.script = lambda request: RunResult(request.text)


@given("another bot")
def another_bot(scene: Scene) -> None:
    scene.bots.append(scene.create(OTHER_TOKEN))


@given("the published limits are kept")
def limits_kept(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def sleep(seconds: float) -> None:
        scene.world.clock.advance(timedelta(seconds=seconds))

    limiter = scene.world.container.work().rate_limiter
    monkeypatch.setattr(limiter, "enforce_quotas", True)
    monkeypatch.setattr(limiter, "sleep", sleep)


@given("a dead letter")
def a_dead_letter(scene: Scene) -> None:
    blocked(scene)
    scene.write("kim", "hello")
    (letter,) = scene.wait_deliveries(lambda found: [each["status"] for each in found] == ["dead"])
    scene.dead_id = letter["id"]


@given(parsers.parse("{number:d} dead letters"))
def dead_letters(scene: Scene, number: int) -> None:
    blocked(scene)
    for n in range(number):
        scene.write("kim", f"hello {n}")
    scene.wait_deliveries(lambda found: [each["status"] for each in found] == ["dead"] * number)


# --- when


@when(parsers.re(r'(?P<who>kim|lee|max) writes "(?P<text>[^"]*)"'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.write(who, text)


@when('kim writes "hello?" in a topic of the same chat')
def writes_in_topic(scene: Scene) -> None:
    scene.write("kim", "hello?", topic=7)
    scene.wait_deliveries(lambda found: len(found) == 2)


@when('max writes "hey" to the other bot')
def writes_to_other(scene: Scene) -> None:
    scene.write("max", "hey", bot=1)


@when(parsers.parse("{number:d} people write"))
def people_write(scene: Scene, number: int) -> None:
    for n in range(number):
        scene.write(f"person {n}", f"hello {n}")
        until(lambda n=n: len(scene.platform.tries) > n, "the reply is tried")  # type: ignore[misc]
    scene.wait_deliveries(lambda found: all(each["attempts"] for each in found))


@when("the reply is refused")
def refused(scene: Scene) -> None:
    scene.wait_deliveries(
        lambda found: len(found) == scene.written[0] and all(each["attempts"] for each in found)
    )


@when("the platform works again")
def works(scene: Scene) -> None:
    scene.platform.trouble = lambda chat: None


@then("kim gets the apology")
def gets_apology(scene: Scene) -> None:
    scene.wait_deliveries(lambda found: [each["status"] for each in found] == ["sent"])
    assert scene.got("kim") == [APOLOGY]


@then("the bot's health tells of the resource alone")
def health_of_resource(scene: Scene) -> None:
    health = scene.health()
    assert health["lastError"] == "the downstream resource failed: it answered 500"
    assert health["lastSuccess"] is None
    failing = [name for name in ("receiving", "processing", "sending") if not health[name]["healthy"]]
    assert (health["healthy"], failing) == (False, ["processing"])


@then("the bot's health tells of a success")
def health_of_success(scene: Scene) -> None:
    until(lambda: scene.health()["lastSuccess"] is not None, "the success is noted")
    health = scene.health()
    assert health["lastSuccess"] > health["lastErrorAt"]
    assert all(health[name]["healthy"] for name in ("receiving", "processing", "sending")), health


@when(parsers.re(r"(?P<seconds>\d+) seconds pass"))
def seconds_pass(scene: Scene, seconds: str) -> None:
    pass_time(scene.world, float(seconds))


@when(parsers.parse("kim's reply is tried {number:d} times in vain"))
def in_vain(scene: Scene, number: int) -> None:
    for attempt in range(1, number + 1):
        scene.wait_deliveries(lambda found, n=attempt: found[0]["attempts"] == n)  # type: ignore[misc]
        pass_time(scene.world, 20_000.0)


@when(parsers.parse("kim gets an answer of {number:d} messages"))
def long_answer(scene: Scene, number: int) -> None:
    scene.resource.script = lambda request: RunResult(
        "\n\n".join(f"{n} " + "word " * 700 for n in range(number))
        if request.text == "tell"
        else request.text
    )
    scene.asked_at = scene.world.clock.now()
    scene.write("kim", "tell")


@when(parsers.re(r"(?P<who>ann|admin) (?P<what>replays|drops) it(?P<elsewhere> at the other bot)?"))
def asks_for(scene: Scene, who: str, what: str, elsewhere: str | None) -> None:
    ask = scene.rest.replay if what == "replays" else scene.rest.drop
    scene.replies.append(ask(who, scene.bots[1 if elsewhere else 0], scene.dead_id))


@when(parsers.parse("{who} lists, replays and drops it"))
def does_all(scene: Scene, who: str) -> None:
    bot = scene.bots[0]
    scene.replies += [
        scene.rest.deliveries(who, bot, "dead"),
        scene.rest.replay(who, bot, scene.dead_id),
        scene.rest.drop(who, bot, scene.dead_id),
    ]


@when("ann saves the bot")
def saves(scene: Scene) -> None:
    assert scene.rest.update("ann", scene.bots[0], {"config": {"botToken": TOKEN}}).outcome == "done"


# --- then


@when(parsers.re(r'(?P<who>kim|lee|max) gets "(?P<text>[^"]*)" once'))
@then(parsers.re(r'(?P<who>kim|lee|max) gets "(?P<text>[^"]*)" once'))
def gets(scene: Scene, who: str, text: str) -> None:
    until(lambda: bool(scene.got(who)), f"{who} gets a reply; tried were {scene.platform.tries}")
    scene.wait_deliveries(
        lambda found: all(each["status"] != "pending" or each["attempts"] for each in found)
    )
    assert scene.got(who) == [text]


@then(parsers.re(r'kim gets "(?P<first>\w+)" and then "(?P<second>\w+)"'))
def gets_both(scene: Scene, first: str, second: str) -> None:
    until(lambda: len(scene.got("kim")) >= 2, "kim gets two replies")
    assert scene.got("kim") == [first, second]


@then(parsers.re(r"kim's reply waits for its second try, due in (?P<seconds>\d+) seconds?"))
def waits(scene: Scene, seconds: str) -> None:
    scene.waits_for(1, float(seconds))


@then(parsers.parse("kim's reply is tried again after these seconds: {delays}"))
def tried_after(scene: Scene, delays: str) -> None:
    for attempt, delay in enumerate(map(float, delays.split(", ")), start=1):
        scene.waits_for(attempt, delay)
        pass_time(scene.world, delay * 1.2)


@then("kim's reply is a dead letter")
def is_dead(scene: Scene) -> None:
    (letter,) = scene.wait_deliveries(lambda found: found[0]["status"] == "dead")
    assert letter["attempts"] == len(scene.platform.tries) == 13


@then("kim's reply is a dead letter after 1 try, with the platform's words")
def dead_at_once(scene: Scene) -> None:
    (letter,) = scene.wait_deliveries(lambda found: found[0]["status"] == "dead")
    assert letter["attempts"] == 1
    assert "bot was blocked by the user" in letter["lastError"]


@then(parsers.parse("the platform is not called again before {seconds:d} seconds have passed"))
def not_called(scene: Scene, seconds: int) -> None:
    registry = scene.world.container.foundation().meter.registry
    waiting = {"channel": "bot-messenger", "reason": "conversation"}
    until(
        lambda: registry.get_sample_value("switchboard_throttled_total", waiting),
        "it waits",
    )
    assert len(scene.platform.tries) == 1
    pass_time(scene.world, float(seconds))
    until(lambda: len(scene.platform.tries) > 1, "the platform is called again")


@then(parsers.re(r"(?P<who>max)'s reply waits without a try"))
def waits_untried(scene: Scene, who: str) -> None:
    found = scene.wait_deliveries(
        lambda found: found[-1]["status"] == "pending" and found[-1]["attempts"] == 0
    )
    until(lambda: _waiting(scene, found[-1]["id"]), "it is held back")
    assert CHATS[who] not in {chat for chat, _ in scene.platform.tries}


def _waiting(scene: Scene, delivery_id: int) -> bool:
    """Its conversation is not being worked on."""
    row = scene.world.run(
        scene.world.container.database().fetch_one(
            "SELECT l.owner IS NULL FROM outbox o JOIN queue l ON l.kind = 1 AND l.instance_id = o.instance_id"
            " AND l.session_key = o.session_key WHERE o.id = %s",
            (delivery_id,),
        )
    )
    return row == (True,)


@then("each of kim, lee and max gets a reply once")
def each_gets(scene: Scene) -> None:
    until(lambda: len(scene.platform.taken) >= 3, f"all get replies: {scene.deliveries()}")
    assert sorted(chat for chat, _, _ in scene.platform.taken) == [CHATS["kim"], CHATS["lee"], CHATS["max"]]


@then("each of the 6 people gets a reply once")
def six_get(scene: Scene) -> None:
    until(lambda: bool(scene.platform.taken), "the probe is sent")
    pass_time(scene.world, 10.0)
    until(lambda: len(scene.platform.taken) >= 6, f"all get replies: {scene.deliveries()}")
    assert len({chat for chat, _, _ in scene.platform.taken}) == len(scene.platform.taken) == 6


@then("a second lies between each of them")
def a_second_apart(scene: Scene) -> None:
    until(lambda: len(scene.got("kim")) == 4, "kim gets four messages")
    arrivals = [at for chat, _, at in scene.platform.taken if chat == CHATS["kim"]]
    assert all(
        (at - scene.asked_at).total_seconds() > 0.9 * earlier for earlier, at in enumerate(arrivals)
    ), "each is sent a second after the one before, and may arrive late"


@then(parsers.parse("ann sees the pages of {size:d} dead letters: {sizes}"))
def pages(scene: Scene, size: int, sizes: str) -> None:
    seen: list[int] = []
    for number, expected in enumerate(map(int, sizes.split(", "))):
        found = scene.rest.deliveries("ann", scene.bots[0], "dead", size, number * size).body
        assert len(found["deliveries"]) == expected
        assert found["pagination"]["currentPage"] == number + 1
        assert (found["pagination"]["totalPages"], found["pagination"]["totalCount"]) == (3, 7)
        seen += [each["id"] for each in found["deliveries"]]
    assert seen == sorted(set(seen))


@then(parsers.parse("the health of the bot counts {number:d} dead letters"))
def counts(scene: Scene, number: int) -> None:
    assert scene.health()["queue"] == {"waiting": 0, "pending": 0, "dead": number}


@then(parsers.parse('the request is "{outcome}"'))
def request_is(scene: Scene, outcome: str) -> None:
    assert scene.replies[-1].outcome == outcome, scene.replies[-1]


@then(parsers.parse('each of the requests is "{outcome}"'))
def requests_are(scene: Scene, outcome: str) -> None:
    assert [each.outcome for each in scene.replies] == [outcome] * 3


@when("max's reply has been due for 8 days")
def due_for_days(scene: Scene) -> None:
    [letter] = scene.wait_deliveries(lambda found: len(found) == 6)[5:]
    scene.dead_id = letter["id"]
    earlier = "UPDATE outbox SET created_at = created_at - interval '8 days' WHERE id = %s"
    scene.world.run(scene.world.container.database().execute(earlier, (scene.dead_id,)))


@then("max's reply is a dead letter, as it waited for too long")
def waited_too_long(scene: Scene) -> None:
    found = scene.wait_deliveries(lambda found: found[5]["status"] == "dead")
    assert found[5]["lastError"] == "it was due for 7 days and could not be tried"
    assert CHATS["max"] not in [chat for chat, _ in scene.platform.tries]


@then("there are no dead letters")
def none_dead(scene: Scene) -> None:
    assert scene.deliveries("dead") == []


@when("the bot's health says that replies wait because the platform does not answer")
@then("the bot's health says that replies wait because the platform does not answer")
def breaker_open(scene: Scene) -> None:
    until(lambda: scene.health()["breaker"] == "open", f"the breaker opens: {scene.health()}")
    found = scene.health()
    assert not found["healthy"]
    assert any("does not answer" in each and "Bad Gateway" in each for each in found["warnings"])
    assert found["breakerUntil"]


@then("the bot's health says that replies go out")
def breaker_closed(scene: Scene) -> None:
    until(lambda: scene.health()["breaker"] == "closed", f"the breaker closes: {scene.health()}")
    assert scene.health()["breakerUntil"] is None


@then("the metrics count 1 open breaker")
def metrics_count(scene: Scene) -> None:
    exposition = scene.world.run(scene.world.container.metrics()())
    assert re.search(r'^switchboard_delivery_breakers{state="open"} 1\.0$', exposition.decode(), re.MULTILINE)


@then("one reply is tried, and the others wait for 20 seconds more")
def probed(scene: Scene) -> None:
    until(lambda: len(scene.platform.tries) == 6, f"one reply is tried: {scene.platform.tries}")
    until(lambda: scene.health()["breaker"] == "open", "the breaker opens again")
    opened = datetime.fromisoformat(scene.health()["breakerUntil"]) - timedelta(seconds=20)
    assert scene.platform.tried_at[-1] - ROUNDED <= opened <= datetime.now(UTC) + ROUNDED
    scene.wait_deliveries(lambda found: sum(each["attempts"] for each in found) == 6)
