"""The steps of settings.feature, and what its pages refuse."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Caller
from domain.agents.model import AgentChange
from domain.events import EventKind
from domain.instances.model import NewInstance
from domain.subscriptions.model import SubscriptionFields
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.features.console.requests import posted
from tests.support.browser import Window
from tests.support.plain_http import plain_request
from tests.support.subscriber import Subscriber

scenarios("settings.feature")

ANN = Caller("ann")


@dataclass
class Scene:
    world: ServedWorld
    open: Open
    subscriber: Subscriber
    instance_id: int = 0
    window: Window | None = None

    def create(self, channel_id: str, config: dict[str, Any]) -> None:
        new = NewInstance(channel_id, "My bot", config, "agent::echo")
        made = self.world.run(self.world.container.use_cases().instances.create(ANN, new))
        self.instance_id = made.instance_id

    @property
    def page(self) -> Page:
        if self.window is None:
            self.window = self.open("ann")
        return self.window.page

    def expect_refusal(self) -> None:
        assert self.window is not None
        self.window.expect_refusal()

    def go(self, path: str) -> Page:
        self.page.goto(self.world.url + path)
        return self.page


@pytest.fixture
def scene(world: ServedWorld, window: Open) -> Iterator[Scene]:
    with Subscriber() as subscriber:
        yield Scene(world, window, subscriber)


@given("ann has a bot, and an address of hers waits for events")
def _(scene: Scene) -> None:
    scene.create("http-webhook", {})


@when("she subscribes the address to messages that come in, by keyboard alone")
def _(scene: Scene) -> None:
    page = scene.go("/console/subscriptions/new")
    page.get_by_label("Address").focus()
    page.keyboard.type(scene.subscriber.url)
    page.keyboard.press("Tab")
    expect(page.get_by_label("message.received")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")


@then("the secret is shown, and it is not on the page that she sees next")
def _(scene: Scene) -> None:
    secret = scene.page.get_by_text("whsec_")
    expect(secret).to_be_visible()
    scene.subscriber.secret = secret.text_content() or ""
    scene.page.get_by_role("link", name="To the log of pushes").press("Enter")
    expect(scene.page.get_by_role("heading", name="Pushes")).to_be_visible()
    assert scene.subscriber.secret not in scene.page.content()


@when("somebody writes to her bot")
def _(scene: Scene) -> None:
    address = f"{scene.world.url}/api/agent/channels/http-webhook/{scene.instance_id}/webhook"
    assert plain_request("POST", address, json={"message": "hello"}).status_code == 200


@then("the log shows that the address took the message")
def _(scene: Scene) -> None:
    row = scene.page.get_by_role("row").filter(has_text="message.received")
    expect(row).to_contain_text("taken")
    expect(row).to_contain_text("200")
    assert scene.subscriber.kinds() == ["message.received"]


@given("ann has a schedule")
def _(scene: Scene) -> None:
    scene.create("cron", {"cronSchedule": "0 9 1 1 *", "message": "Happy new year."})


@when("she runs it now")
def _(scene: Scene) -> None:
    scene.go("/console/schedules").get_by_role("button", name="Run now: My bot").press("Enter")


@then("the page says so, and soon that it worked")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_text("It runs as soon as a worker can take it")).to_be_visible()
    expect(scene.page.get_by_role("row").filter(has_text="My bot")).to_contain_text("worked")


@when(parsers.parse('ann asks the resource "{resource}" "{text}" on its page'))
def _(scene: Scene, resource: str, text: str) -> None:
    page = scene.go("/console/resources")
    if "::such" in resource:
        scene.expect_refusal()
    page.get_by_label("Resource id").fill(resource)
    page.get_by_label("Message").fill(text)
    page.get_by_role("button", name="Ask it").press("Enter")


@then(parsers.parse('the answer "{text}" is shown beside it'))
def _(scene: Scene, text: str) -> None:
    result = scene.page.get_by_role("region", name="Result")
    expect(result).to_contain_text("a built-in")
    expect(result.locator("pre")).to_have_text(text)


@then("it is said beside it what is wrong with the id")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_role("region", name="Result")).to_contain_text("has '::' inside its id")


Client = Callable[[str], httpx.Client]


def test_a_wrong_subscription_names_the_field_and_keeps_what_was_typed(client: Client) -> None:
    form = {"url": "ftp://events.example", "kinds": ["delivery.dead"]}
    answer = posted(client("ann"), "/console/subscriptions/new", form)
    assert answer.status_code == 400
    assert 'aria-describedby="fault-url' in answer.text
    assert 'value="ftp://events.example"' in answer.text
    assert 'value="delivery.dead" checked' in answer.text


def test_a_subscription_is_switched_off_tried_and_deleted(world: ServedWorld, client: Client) -> None:
    ann = client("ann")
    with Subscriber() as subscriber:
        fields = SubscriptionFields(subscriber.url)
        made = world.run(world.container.use_cases().subscriptions.create(ANN, fields))
        path = f"/console/subscriptions/{made.subscription.id}"
        assert "The address took the trial event" in posted(ann, f"{path}/test").text
    assert posted(ann, f"{path}/status", {"status": "off"}).headers["location"] == path
    assert "switched off by hand" in ann.get(path).text
    assert "switched off by hand" in ann.get("/console/subscriptions").text
    assert posted(ann, f"{path}/status", {"status": "active"}).status_code == 303
    assert "switched off by hand" not in ann.get(path).text
    assert posted(ann, f"{path}/pushes/1/replay").status_code == 404
    assert posted(ann, f"{path}/delete").headers["location"] == "/console/subscriptions"
    assert ann.get(path).status_code == 404


def test_a_subscription_that_is_not_taken_needs_attention(world: ServedWorld, client: Client) -> None:
    fields = SubscriptionFields("http://127.0.0.1:9/events", ("message.received",))
    made = world.run(world.container.use_cases().subscriptions.create(ANN, fields)).subscription
    row = (made.id, "1:s", '{"event": 1}', json.dumps({"subscription": made.id}), "k")
    database, since = world.container.database(), "now() - interval '2 hours'"
    columns = "instance_id, session_key, message, target, key, created_at"
    world.run(database.execute(f"INSERT INTO outbox ({columns}) VALUES (%s, %s, %s, %s, %s, {since})", row))
    world.run(
        database.execute(
            f"UPDATE channel_instance SET created_at = {since}, updated_at = {since} WHERE id = %s",
            (made.id,),
        )
    )
    ann = client("ann")
    assert "needs attention" in ann.get("/console/subscriptions").text
    page = ann.get(f"/console/subscriptions/{made.id}").text
    assert "Nothing could be pushed for an hour: it was not tried." in page


def test_a_subscription_is_changed_and_one_that_is_off_stays_so(world: ServedWorld, client: Client) -> None:
    service = world.container.use_cases().subscriptions
    fields = SubscriptionFields("http://127.0.0.1:9/old", ("delivery.dead",))
    made = world.run(service.create(ANN, fields)).subscription
    ann, path = client("ann"), f"/console/subscriptions/{made.id}"
    posted(ann, f"{path}/status", {"status": "off"})
    assert 'value="delivery.dead" checked' in ann.get(f"{path}/edit").text
    form = {"url": "http://127.0.0.1:9/new", "kinds": ["message.received", "message.failed"]}
    assert posted(ann, f"{path}/edit", form).headers["location"] == path
    changed = world.run(service.get(ANN, made.id)).subscription
    assert (changed.url, changed.kinds) == ("http://127.0.0.1:9/new", ("message.received", "message.failed"))
    assert changed.status == "off"
    answer = posted(ann, f"{path}/edit", {"url": ""})
    assert (answer.status_code, "fault-url" in answer.text) == (400, True)


def test_what_does_not_run_by_the_clock_cannot_be_run(world: ServedWorld, client: Client) -> None:
    new = NewInstance("http-webhook", "Bot", {}, None)
    made = world.run(world.container.use_cases().instances.create(ANN, new))
    answer = posted(client("ann"), f"/console/schedules/{made.instance_id}/run")
    assert answer.status_code == 409
    assert "neither polled nor fires by the clock" in answer.text


def test_only_admins_see_the_rules(client: Client) -> None:
    assert "Rules in force" in client("admin").get("/console/resources").text
    assert "Rules in force" not in client("ann").get("/console/resources").text


def test_each_kind_of_event_can_be_chosen(client: Client) -> None:
    page = client("ann").get("/console/subscriptions/new").text
    assert [kind for kind in EventKind if f'value="{kind}"' not in page] == []


def test_a_stored_agent_is_tried_and_named(client: Client, world: ServedWorld) -> None:
    change = AgentChange("Helper", "agent::helper", "http", {"url": "http://127.0.0.1:9/run"})
    world.run(world.container.use_cases().agents.create(ANN, change))
    for who in ("ann", "admin"):
        answer = posted(
            client(who), "/console/resources", {"resource": "agent::helper", "text": "", "ask": ""}
        )
        assert "a stored agent" in answer.text
    assert "a stored agent" in client("admin").get("/console/resources").text


def test_a_resource_is_found_and_tried_without_scripts(client: Client) -> None:
    ann, echo = client("ann"), {"resource": "agent::echo", "ask": "true"}
    answer = posted(ann, "/console/resources", {**echo, "text": "<b>Hi</b>"})
    assert '<pre dir="auto">&lt;b&gt;Hi&lt;/b&gt;</pre>' in answer.text
    answer = posted(ann, "/console/resources", {"resource": "agent::nobody", "text": "", "ask": ""})
    assert "Nothing takes this id" in answer.text
    answer = posted(ann, "/console/resources", {**echo, "text": ""})
    assert answer.status_code == 400
    assert 'id="fault-text"' in answer.text
