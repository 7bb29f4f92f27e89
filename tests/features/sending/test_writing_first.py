"""The steps of writing_first.feature."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when
from twilio.request_validator import RequestValidator

from adapters.outbound.channels.bot_messenger.tests import samples as telegram
from adapters.outbound.channels.business_messaging.tests import samples as whatsapp
from adapters.outbound.channels.community_chat.tests import samples as mattermost
from adapters.outbound.channels.enterprise_chat.tests import samples as teams
from adapters.outbound.channels.gaming_chat.tests import samples as discord
from adapters.outbound.channels.sms_provider.tests import samples as sms
from adapters.outbound.channels.tests.support import call
from domain.channels.messages import RawCall
from tests.drivers.ways import BASE
from tests.features.sending.conftest import Sending
from tests.support.platforms.discord import Discord
from tests.support.platforms.mattermost import DIRECT, TOKEN, Mattermost
from tests.support.platforms.standin import StandIn
from tests.support.platforms.teams import APP_ID, PASSWORD, Teams, token
from tests.support.platforms.telegram import Telegram
from tests.support.platforms.twilio import Twilio
from tests.support.platforms.whatsapp import WhatsApp

scenarios("writing_first.feature")

Platform = Any


@dataclass(frozen=True)
class Place:
    """`answer` is the call by which the person answers, `read` what the person has read."""

    channel_id: str
    config: Mapping[str, Any]
    standin: Callable[[], StandIn]
    to: str
    answer: Callable[[Sending, datetime], RawCall]
    read: Callable[[Platform], list[str]]


def _sms(sending: Sending, now: datetime) -> RawCall:
    url = f"{BASE}/api/agent/channels/sms-provider/{sending.id}/webhook"
    signature = RequestValidator(sms.TOKEN).compute_signature(url, sms.MESSAGE)
    return call(form=sms.MESSAGE, headers={"X-Twilio-Signature": signature})


def _mattermost(sending: Sending, now: datetime) -> RawCall:
    return call(as_json={**mattermost.POST, "channel_id": DIRECT, "token": TOKEN})


def _teams(sending: Sending, now: datetime) -> RawCall:
    activity = {**teams.fixture("message_personal"), "serviceUrl": sending.driver.url}
    return call(as_json=activity, headers={"Authorization": f"Bearer {token(now, sending.driver.url)}"})


PLACES = {
    "Telegram": Place(
        "bot-messenger",
        telegram.CONFIG,
        Telegram,
        "5550001",
        lambda sending, now: telegram.update("message_text"),
        lambda platform: [message["text"] for message in platform.of("sendMessage")],
    ),
    "WhatsApp": Place(
        "business-messaging",
        whatsapp.CONFIG,
        WhatsApp,
        "+441632960001",
        lambda sending, now: whatsapp.notification("text"),
        lambda platform: [message["text"]["body"] for message in platform.messages],
    ),
    "text messages": Place(
        "sms-provider",
        sms.CONFIG,
        Twilio,
        "+4915112345678",
        _sms,
        lambda platform: [message["Body"] for message in platform.messages],
    ),
    "Discord": Place(
        "gaming-chat",
        discord.CONFIG,
        Discord,
        f"user:{discord.PERSON}",
        lambda sending, now: discord.posted(discord.fixture("command_dm"), now),
        lambda platform: [message["content"] for message in platform.messages],
    ),
    "Mattermost": Place(
        "community-chat",
        {**mattermost.CONFIG, "token": TOKEN},
        Mattermost,
        f"user:{mattermost.PERSON}",
        _mattermost,
        lambda platform: [post["message"] for post in platform.posts],
    ),
    "Teams": Place(
        "enterprise-chat",
        {"appId": APP_ID, "appPassword": PASSWORD},
        Teams,
        teams.PERSONAL,
        _teams,
        lambda platform: [activity["text"] for activity in platform.activities.values()],
    ),
}


@dataclass
class Scene:
    place: Place
    platform: Platform


@pytest.fixture
def scenes() -> list[Scene]:
    return []


@given(parsers.parse("ann has an instance of {name}"))
def has_instance(sending: Sending, scenes: list[Scene], name: str) -> None:
    place = PLACES[name]
    scenes.append(Scene(place, sending.show(place.standin())))
    config = dict(place.config)
    if "SERVER_URL" in config:
        config["SERVER_URL"] = sending.driver.url
    sending.id = sending.create(place.channel_id, config)


@given("the person takes no messages of strangers")
def closed(scenes: list[Scene]) -> None:
    scenes[0].platform.closed_to_strangers = True


@given("Discord fails for the moment")
def failing(scenes: list[Scene]) -> None:
    scenes[0].platform.next_reply(502, {"message": "Bad gateway"})


@when(parsers.parse('ann sends "{text}" to the person\'s address'))
def sends(sending: Sending, scenes: list[Scene], text: str) -> None:
    sending.send(text=text, to=scenes[0].place.to)


@when(parsers.parse('ann sends "{text}" to a mail address'))
def sends_to_mail(sending: Sending, text: str) -> None:
    sending.send(text=text, to="ada@client.example")


@when(parsers.parse('ann sends "{text}" to the person\'s address with a second line'))
def sends_two_lines(sending: Sending, scenes: list[Scene], text: str) -> None:
    sending.send(text=text, to=f"{scenes[0].place.to}\nBcc: everybody@client.example")


@when(parsers.parse('ann sends "{text}" to an address of 1500 letters'))
def sends_far(sending: Sending, scenes: list[Scene], text: str) -> None:
    sending.send(text=text, to=scenes[0].place.to + "x" * 1500)


@then("it is refused because of the address")
def refused_address(sending: Sending) -> None:
    assert sending.last.outcome == "invalid", sending.last
    assert "to: " in json.dumps(sending.last.body)
    assert len(json.dumps(sending.last.body)) < 1000


@then("nobody gets anything")
def nobody(sending: Sending, scenes: list[Scene]) -> None:
    assert scenes[0].place.read(scenes[0].platform) == []
    database = sending.world.container.database()
    assert sending.world.run(database.fetch("SELECT 1 FROM outbox")) == []


@then(parsers.parse('the person reads "{text}"'))
def reads(sending: Sending, scenes: list[Scene], text: str) -> None:
    scene = scenes[0]
    assert sending.driver.wait_until(lambda: scene.place.read(scene.platform) == [text])


@when("the person answers")
def answers(sending: Sending, scenes: list[Scene]) -> None:
    place = scenes[0].place
    posted = place.answer(sending, sending.world.clock.now())
    reply = sending.rest.call(place.channel_id, sending.id, posted.body, posted.headers, "webhook")
    assert reply.outcome == "done", reply


@then("both are of one conversation")
def one_conversation(sending: Sending) -> None:
    database = sending.world.container.database()
    rows = sending.world.run(database.fetch("SELECT session_key FROM queue WHERE kind = 0"))
    assert rows == [(sending.last.body["sessionId"],)]
    received = sending.world.run(database.fetch("SELECT session_key FROM inbox"))
    assert received == rows


@then("it is refused with Discord's reason")
def refused_by_discord(sending: Sending) -> None:
    assert sending.last.outcome == "invalid", sending.last
    assert "Cannot send messages to this user" in json.dumps(sending.last.body)


@then("ann is asked to try again later")
def try_later(sending: Sending) -> None:
    assert sending.last.outcome == "away", sending.last


@then("it is refused, as that is no address there")
def no_address(sending: Sending) -> None:
    assert sending.last.outcome == "invalid", sending.last
    assert "to: must be" in json.dumps(sending.last.body)
