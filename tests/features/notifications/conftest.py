"""What the features of notifications have in common."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pytest_bdd import given, parsers, then, when

from adapters.outbound.storage.notifications import note_one
from domain.channels.rich import ConversationChange
from domain.instances.model import Activity
from domain.notifications.model import NotificationKind
from domain.routing.model import RunResult
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.features.conversations.scene import Scene as Conversations
from tests.support.mail import Postbox, smtp_server
from tests.support.waiting import until

TOKYO = ZoneInfo("Asia/Tokyo")
LIST = "/api/agent/notifications"
LEVELS = {"see": 1, "answer on": 2, "manage": 3}


@pytest.fixture(scope="module", autouse=True)
def postbox(request: pytest.FixtureRequest) -> Iterator[Postbox]:
    """The mail server."""
    with smtp_server(auth=False) as postbox:
        settings = {"SMTP_HOST": "127.0.0.1", "SMTP_PORT": str(postbox.port), "SMTP_FROM": "bots@example.com"}
        request.module.SETTINGS = {**getattr(request.module, "SETTINGS", {}), **settings}
        yield postbox


class Scene(Conversations):
    """A bot of ann's, and colleagues who are told of what happens to it."""

    def __init__(self, world: World, rest: Rest, driver: PlatformDriver, postbox: Postbox) -> None:
        super().__init__(world, rest, driver)
        self.postbox = postbox
        postbox.mails.clear()
        postbox.envelopes.clear()
        postbox.answers.clear()
        self.teams: dict[str, int] = {}
        self.result = RunResult("")

    @property
    def storage(self) -> Any:
        return self.world.container.storage()

    def do(self, method: str, path: str, user: str, body: Any = None) -> Any:
        response = self.ask(method, path, user, **({} if body is None else {"json": body}))
        assert response.is_success, response.text
        return response.json() if response.content else None

    def share(self, level: int, **grantee: Any) -> None:
        self.do("PUT", f"{self.path}/permissions", "ann", {**grantee, "level": level})

    def user(self, name: str) -> None:
        self.do("GET", "/api/agent/me", name)

    def team(self, name: str, members: list[str], **fields: Any) -> None:
        for member in members:
            self.user(member)
        body = {"name": name, "members": [{"userId": member} for member in members]}
        self.teams[name] = self.do("POST", "/api/agent/teams", "admin", body)["id"]

    def work(self) -> None:
        """Notifies of what happened, and sends what is due, as the service does every second."""
        self.settle()
        self.world.run(self.world.container.notification_writer().work())
        self.world.run(self.world.container.notification_delivery().work())
        self.settle()

    def notifications(self, user: str, **query: Any) -> list[dict[str, Any]]:
        page = self.ask("GET", LIST, user, params=query).json()
        listed = list(page["notifications"])
        while page["next"]:
            page = self.ask("GET", LIST, user, params={**query, "cursor": page["next"]}).json()
            listed += page["notifications"]
        return listed

    def texts(self, user: str) -> list[str]:
        return [notification["text"] for notification in self.notifications(user)]

    def unread(self, user: str) -> int:
        return int(self.do("GET", f"{LIST}/unread", user)["unread"])

    def dated(self, text: str) -> str:
        month: str = self.value("SELECT to_char(now() AT TIME ZONE 'utc', 'YYYY-MM')")
        return text.replace("this month", month)

    def at(self, hour: int, minute: int) -> None:
        """Moves the clock on to that time in Tokyo, where no clocks are changed."""
        clock = self.world.clock
        clock.stop()
        now = clock.now().astimezone(TOKYO)
        then = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
        clock.advance((then if then > now else then + timedelta(days=1)) - now)

    def budget(self, user: str) -> None:
        """A budget of a user is spent by 85 percent, and told of twice."""
        budget = self.do("PUT", "/api/agent/budgets", "admin", {"userId": user, "tokens": 100})

        async def spend() -> None:
            await self.world.container.database().execute(
                "INSERT INTO budget_spent (budget_id, month, slot, amount)"
                " VALUES (%s, date_trunc('month', now() AT TIME ZONE 'utc')::date, 1, 85)",
                (budget["id"],),
            )
            await self.storage.budgets.tell_reached()
            await self.storage.budgets.tell_reached()

        self.world.run(spend())
        self.work()

    def colleague(self, kind: str) -> None:
        """Ann assigns a conversation to bob, or mentions him in a note."""
        result, self.result = self.result, RunResult("hello")
        self.write("ada", "hello")
        self.settle()
        self.result = result
        if kind == "assigned":
            self.do("PUT", f"{self.of('ada')}/state", "ann", {"assignee": "user:bob"})
        else:
            self.do("POST", f"{self.of('ada')}/notes", "ann", {"text": "@bob please look"})

    def approval(self, by: str) -> None:
        """A confirmation waits for an approver."""
        cause = note_one(
            NotificationKind.APPROVAL,
            instance_id=self.bots["ann"],
            session_key="101",
            ref=5,
            named=[by],
            data='{"tool": "refund"}',
        )
        self.world.run(self.world.container.database().execute(cause))
        self.work()

    def health(self, *, works: bool) -> None:
        if works:
            self.world.run(self.storage.health.succeeded(self.bots["ann"], Activity.SENDING))
        else:
            self.world.run(self.storage.health.failed(self.bots["ann"], Activity.SENDING, ""))
        self.work()


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver, postbox: Postbox) -> Scene:
    return Scene(world, rest, platform_driver, postbox)


@given(parsers.parse('a bot of ann whose resource asks for a person with "{text}"'))
def asks_for_person(scene: Scene, text: str) -> None:
    scene.create("ann")
    scene.result = RunResult(text, wants_person=True)
    scene.resource.script = lambda _: scene.result


@given(parsers.re(r"(?P<who>\w+) may (?P<what>see|answer on|manage) the bot"))
def may(scene: Scene, who: str, what: str) -> None:
    scene.user(who)
    scene.share(LEVELS[what], userId=who)


@given(parsers.parse("{who} has nothing to do with it"))
def has_nothing(scene: Scene, who: str) -> None:
    scene.user(who)


@given(parsers.re(r"the team (?P<name>\w+) of (?P<members>.+) may answer on the bot"))
def team_may(scene: Scene, name: str, members: str) -> None:
    scene.team(name, members.split(" and "))
    scene.share(2, teamId=scene.teams[name])


@given(parsers.parse("the bot assigns to the team {name}"))
def assigns(scene: Scene, name: str) -> None:
    change = ConversationChange(assign=f"team:{scene.teams[name]}")
    scene.result = replace(scene.result, change=change)


@given(parsers.parse("{who} is suspended"))
@when(parsers.parse("{who} is suspended"))
def suspended(scene: Scene, who: str) -> None:
    scene.do("PUT", f"/api/agent/users/{who}", "admin", {"state": "suspended"})


@when(parsers.parse("{who} loses the permission"))
def loses(scene: Scene, who: str) -> None:
    scene.share(0, userId=who)


@when(parsers.re(r'(?P<who>ada|bert) writes "(?P<text>[^"]+)"'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.write(who, text)
    scene.work()


@when(parsers.parse('ada, bert and {count:d} others write "{text}"'))
def many_write(scene: Scene, count: int, text: str) -> None:
    for who in ("ada", "bert", *(f"person {number}" for number in range(count))):
        scene.write(who, text)
    scene.work()


@when("the resource has the conversation again")
def handed_back(scene: Scene) -> None:
    assert scene.hand_over("ada", "resource").status_code == 204


@when(parsers.parse("an hour passes"))
def hour_passes(scene: Scene) -> None:
    scene.world.clock.advance(timedelta(hours=1, minutes=1))
    scene.work()


@when("answers cannot be sent any more")
def fails(scene: Scene) -> None:
    scene.health(works=False)


@when("answers can be sent again")
def works_again(scene: Scene) -> None:
    scene.health(works=True)


@then(parsers.parse('{who} is notified: "{text}"'))
def is_notified(scene: Scene, who: str, text: str) -> None:
    text = scene.dated(text)
    until(lambda: text in scene.texts(who), f"{who} is notified")


@then(parsers.re(r"(?P<who>\w+( and \w+)*) (is|are) not notified"))
def not_notified(scene: Scene, who: str) -> None:
    scene.work()
    for user in who.split(" and "):
        assert scene.notifications(user) == []


@then(parsers.re(r"(?P<who>\w+) sees (?P<count>\d+|no) notifications?$"))
def sees(scene: Scene, who: str, count: str) -> None:
    scene.work()
    assert len(scene.notifications(who)) == (0 if count == "no" else int(count))


@then(parsers.re(r"(?P<count>\d+|no) notifications? of (?P<who>\w+) (is|are) unread"))
def unread(scene: Scene, who: str, count: str) -> None:
    number = 0 if count == "no" else int(count)
    assert scene.unread(who) == number
    assert len(scene.notifications(who, unread="true")) == number
