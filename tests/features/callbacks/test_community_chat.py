"""The steps of community_chat.feature that are its own."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pytest_bdd import scenarios, then, when

from adapters.outbound.channels.tests.support import call
from domain.channels.messages import RawCall
from tests.drivers.world import World
from tests.features.callbacks.conftest import Chat, Instance
from tests.support.platforms.mattermost import BOT, OTHER_BOT, TOKEN, Mattermost
from tests.support.waiting import until

scenarios("community_chat.feature")

ROOT = "r" * 26
EVENTS: Mapping[str, str] = {
    "a post in the usual form": "outgoing_webhook",
    "a post as a web form": "outgoing_webhook_form",
    "a slash command": "slash_command",
    "a command that names an address elsewhere": "foreign_response_url",
    "a post without a channel": "without_channel",
    "a post with the token of the API": "with_the_api_token",
    "a post of the bot itself": "own_post",
    "an empty post": "empty",
    "a post of another bot": "other_bots_post",
    "the bot's answer as a person's post": "own_answer_of_a_person",
    "a post in a thread": "thread_post",
    "a post of another bot in the thread": "other_bots_thread_post",
    "a later post in the thread": "later_thread_post",
}
PLACES: Mapping[str, str] = {
    "c4n8hq2xw7z1m5kfr9ty3bdjpa": "the channel",
    "d4n8hq2xw7z1m5kfr9ty3bdjpa": "the configured channel",
    "response_url": "the command's own address",
}
REPLIES: Mapping[str, Any] = {
    "an empty reply": {},
}

FIXTURES = Path(__file__).parents[3] / "adapters/outbound/channels/community_chat/fixtures"
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "foreign_response_url": ("slash_command", {"response_url": "https://evil.example/hooks"}),
    "without_channel": ("outgoing_webhook", {"channel_id": ""}),
    "with_the_api_token": ("outgoing_webhook", {"token": TOKEN}),
    "own_post": ("outgoing_webhook", {"user_id": BOT["id"]}),
    "own_answer_of_a_person": ("outgoing_webhook", {"post_id": f"post{1:022d}"}),
    "other_bots_post": ("outgoing_webhook", {"user_id": OTHER_BOT}),
    "empty": ("outgoing_webhook", {"text": "@kitchen ", "file_ids": ""}),
    "thread_post": ("outgoing_webhook", {"root_id": ROOT}),
    "other_bots_thread_post": (
        "outgoing_webhook",
        {"root_id": ROOT, "user_id": OTHER_BOT, "post_id": "b" * 26},
    ),
    "later_thread_post": ("outgoing_webhook", {"root_id": ROOT, "post_id": "c" * 26}),
}
CURRENT: list[Instance] = []


@pytest.fixture(autouse=True)
def current(instance: Instance) -> None:
    """The instance whose server the response addresses are on."""
    CURRENT[:] = [instance]


def payload(name: str) -> dict[str, Any]:
    recorded, changes = VARIANTS.get(name, (name, {}))
    found = json.loads((FIXTURES / f"{recorded}.json").read_text())
    if recorded == "slash_command":
        url = CURRENT[0].driver.url
        found["response_url"] = f"{url}/hooks/commands/r8x2mf7qb4w1z8n5r3ty6hcjda"
    return {**found, "file_ids": "", **changes}


def posted(name: str, at: datetime, **changes: str) -> RawCall:
    content = {**payload(name), **changes}
    if name.startswith("outgoing_webhook_form") or "command" in content:
        return call(form=content)
    return call(as_json=content)


def said(platform: Any) -> list[tuple[str, str]]:
    posts = [(post["channel_id"], post["message"]) for post in platform.posts]
    return posts + [("response_url", response["text"]) for response in platform.responses]


CHAT = Chat(
    channel_id="community-chat",
    config={
        "SERVER_URL": "{platform}",
        "channelId": "d4n8hq2xw7z1m5kfr9ty3bdjpa",
        "token": TOKEN,
        "webhookToken": "p7w4xk1mq9d3f8zrh6tbnc5yaj",
    },
    standin=Mattermost,
    setting="",
    call=posted,
    forged=lambda name, at: posted(name, at, token="p7w4xk1mq9d3f8zrh6tbnc5yax"),
    said=said,
    events=EVENTS,
    places=PLACES,
    replies=REPLIES,
)


def worked_on(world: World, count: int) -> None:
    database = world.container.database()
    until(
        lambda: world.run(database.fetch_value("SELECT count(*) FROM inbox WHERE status <> 0")) == count,
        "the posts are worked on",
    )


def is_closed(world: World) -> bool:
    row = world.run(world.container.database().fetch_one("SELECT closed_at FROM queue WHERE kind = 0"))
    assert row is not None
    return row[0] is not None


@when("the conversation is closed once it is answered")
def closes(world: World) -> None:
    worked_on(world, 1)
    world.run(world.container.database().execute("UPDATE queue SET closed_at = now() WHERE kind = 0"))


@then("the conversation is still closed once that is worked on")
def still_closed(world: World) -> None:
    worked_on(world, 2)
    assert is_closed(world)


@then("the conversation is open again once that is worked on")
def open_again(world: World) -> None:
    worked_on(world, 3)
    assert not is_closed(world)
