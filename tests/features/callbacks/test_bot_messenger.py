"""The steps of bot_messenger.feature that are its own."""

from collections.abc import Mapping
from typing import Any

from pytest_bdd import given, scenarios, then

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.channels.bot_messenger.webhook import secret_of
from ports.resources import Role, Turn
from tests.drivers.world import World
from tests.features.callbacks.conftest import Chat, Instance, create
from tests.support.platforms.telegram import TOKEN, Telegram

scenarios("bot_messenger.feature")

EVENTS: Mapping[str, str] = {
    "a message": "message_text",
    "an edited message": "edited_message",
    "a command": "message_command",
    "a mention in a topic": "message_topic",
    "that the group is no more": "migrate_to",
    "that the supergroup was made": "migrate_from",
    "a mention in the supergroup": "message_supergroup",
    "a mention in the group": "message_group",
    "a button with the value c:1:approve": "callback_query",
    "/start": "message_start",
    "/start with a payload of a link": "message_start_link",
    "the data of a web app": "message_web_app",
    "/help": "message_help",
    "a message of another bot": "message_from_bot",
    "a note that somebody joined": "message_service",
    "a button of a message elsewhere": "callback_query_inline",
    "a search for the bot's suggestions": "inline_query",
}
PLACES: Mapping[str, str] = {
    "-1002000300040 topic 7": "the topic of the group",
    "5550001": "the chat",
    "-1002000300041": "the supergroup",
    "-4001": "the group",
}


def said(platform: Any) -> list[tuple[str, str]]:
    return [(_place(message), message["text"]) for message in platform.of("sendMessage")]


def _place(message: dict[str, Any]) -> str:
    topic = message.get("message_thread_id")
    return f"{message['chat_id']} topic {topic}" if topic else str(message["chat_id"])


CHAT = Chat(
    channel_id="bot-messenger",
    config=samples.CONFIG,
    standin=Telegram,
    setting=samples.SETTING,
    call=lambda name, at: samples.update(name),
    forged=lambda name, at: samples.update(name, "0" * 64),
    said=said,
    events=EVENTS,
    places=PLACES,
)


@given("a bot that echoes in the group alone")
def bot_of_group(instance: Instance) -> None:
    create(instance, {"allowedChannels": "-7, -4001"})


@given("something was said in the group")
def was_said(world: World, instance: Instance) -> None:
    history = world.container.storage().chat_history
    world.run(history.append(instance.id, "-4001", "r1", [Turn(Role.USER, "hello")]))


@then("what was said in the group was said in the supergroup")
def said_in_supergroup(world: World, instance: Instance) -> None:
    turns = world.run(world.container.storage().chat_history.load(instance.id, "-1002000300041", "r2"))
    assert [turn.text for turn in turns] == ["hello"]
    config = instance.rest.instance("ann", instance.id).body["config"]
    assert config["allowedChannels"] == "-7, -1002000300041"


@then("it belongs to the conversation of the supergroup")
def of_supergroup(world: World) -> None:
    rows = world.run(world.container.database().fetch("SELECT session_key FROM inbox"))
    assert [tuple(row) for row in rows] == [("-1002000300041",)]


@then("its webhook is registered")
def registered(instance: Instance) -> None:
    platform = instance.driver.platform
    assert isinstance(platform, Telegram)
    assert instance.created["webhookRegistered"] is True, instance.created
    assert instance.created["webhookError"] is None
    address = f"https://agents.example/api/agent/channels/bot-messenger/{instance.id}/webhook"
    assert platform.webhook["url"] == address
    assert platform.webhook["secret_token"] == secret_of(TOKEN)


@then("its button stops waiting")
def stops_waiting(instance: Instance) -> None:
    platform = instance.driver.platform
    assert isinstance(platform, Telegram)
    query = samples.fixture("callback_query")["callback_query"]["id"]
    assert instance.driver.wait_until(lambda: bool(platform.of("answerCallbackQuery")))
    assert platform.of("answerCallbackQuery") == [{"callback_query_id": query}]
    assert platform.of("editMessageReplyMarkup") == []
