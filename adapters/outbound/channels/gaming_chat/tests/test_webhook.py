"""Interactions as Discord posts them, and as it never would."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import discord_interactions
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.gaming_chat import config as models
from adapters.outbound.channels.gaming_chat import webhook
from adapters.outbound.channels.tests.support import NOW, call
from domain.channels.context import bounded
from domain.channels.messages import Attachment, Event, Identity, RawCall, Received
from domain.refusals import Invalid, NotFound, Unauthenticated
from tests.support.hostile import JSON, places, replaced
from tests.support.platforms.discord import TOKEN

from .samples import CONFIG, FIXTURES, KEY, fixture, interaction, posted, signed, tampered


def receive(config: Mapping[str, Any], given: RawCall, now: datetime) -> Received:
    return webhook.receive(models.CONFIG.load(config), given, {}, now)


INTERACTIONS = sorted(path.stem for path in FIXTURES.glob("*.json") if "message_" not in path.stem)
MESSAGES = sorted(path.stem for path in FIXTURES.glob("message_*.json"))


def received(given: RawCall) -> Received:
    return receive(CONFIG, given, NOW)


def event(name: str) -> Event:
    (found,) = received(interaction(name)).events
    return found


def forwarded(body: Any, token: str = TOKEN) -> RawCall:
    return call(as_json=body, headers={"X-Discord-Gateway-Token": token})


def test_a_command_on_a_message_hands_on_its_files_and_its_author() -> None:
    body = fixture("command_on_message")
    message = body["data"]["resolved"]["messages"]["900"]
    file = {
        "id": "1",
        "filename": "shot.png",
        "size": 3,
        "url": "https://cdn.example/x",
        "content_type": "image/png",
    }
    message |= {"content": "", "attachments": [file], "timestamp": "2026-11-20T12:00:00+00:00"}
    (asked,) = received(posted(body)).events
    assert [(each.name, each.mime_type) for each in asked.attachments] == [("shot.png", "image/png")]
    assert asked.canned_reply is None
    assert asked.context["command"] == "Explain"
    assert asked.context["forwarded"] == {"author": "Ada Byron", "at": "2026-11-20T12:00:00+00:00"}


def test_a_command_on_a_person_names_the_person() -> None:
    body = fixture("command_on_message")
    person = {"id": "900", "username": "charles"}
    body["data"] |= {"type": 2, "resolved": {"users": {"900": person}}}
    (asked,) = received(posted(body)).events
    assert (asked.text, asked.canned_reply) == ("@charles", None)


def test_a_command_tells_its_names_its_options_and_the_language() -> None:
    assert bounded(event("command_nested").context) == {
        "language": "en-US",
        "group": {"id": "772908445358620702"},
        "command": "engine valve open",
        "platform": {
            "serverId": "290926798626357999",
            "options": {"number": "7", "fully": "true", "for": "@charles"},
        },
    }


@given(st.binary())
def test_signatures_agree_with_discords_own_verifier(body: bytes) -> None:
    headers = signed(body).headers
    public = KEY.verify_key.encode().hex()
    stamp, signature = headers["x-signature-timestamp"], headers["x-signature-ed25519"]
    assert discord_interactions.verify_key(body, signature, stamp, public)


@pytest.mark.parametrize("forged", tampered())
def test_forged_and_repeated_calls_are_refused(forged: RawCall) -> None:
    with pytest.raises(Unauthenticated):
        received(forged)


@pytest.mark.parametrize("key", ["00", "zz", "00" * 32])
def test_a_key_that_is_none_proves_nothing(key: str) -> None:
    with pytest.raises(Unauthenticated):
        receive(CONFIG | {"publicKey": key}, interaction("ping"), NOW)


@pytest.mark.parametrize("name", ["ping", "command_guild"])
def test_without_a_key_the_call_is_taken_as_unproved(name: str) -> None:
    config = {each: value for each, value in CONFIG.items() if each != "publicKey"}
    found = receive(config, call(as_json=fixture(name)), NOW)
    assert found.missing_proof_field == "publicKey"
    assert len(found.events) == (0 if name == "ping" else 1)


def test_other_callbacks_do_not_exist() -> None:
    with pytest.raises(NotFound):
        received(call(callback="other"))


@pytest.mark.parametrize("body", [b"", b"[]", b"{"])
def test_a_body_that_is_no_object_is_invalid(body: bytes) -> None:
    with pytest.raises(Invalid):
        received(signed(body))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("ping", b'{"type":1}'),
        ("command_guild", b'{"type":5}'),
        ("command_bare", b'{"type":5}'),
        ("component_button", b'{"type":6}'),
        ("component_select", b'{"type":6}'),
        ("autocomplete", b'{"type":8,"data":{"choices":[]}}'),
        ("modal_submit", b'{"type":5}'),
    ],
)
def test_each_type_is_answered_as_discord_expects(name: str, answer: bytes) -> None:
    found = received(interaction(name)).answer
    assert (found.status, found.body) == (200, answer)
    assert found.headers["content-type"] == "application/json"


def form(**data: Any) -> Received:
    """A submitted form with other data."""
    body = fixture("modal_submit")
    body["data"] = {"custom_id": "order", **data}
    return received(posted(body))


def test_a_submitted_form_is_a_message_with_its_values_and_files() -> None:
    body = fixture("modal_submit")
    file = {"id": "111", "filename": "engine.png", "url": "https://cdn.discordapp.com/1/engine.png"}
    body["data"]["components"] += [
        {"component": {"custom_id": "sizes", "values": ["small", "large"]}},
        {"component": {"custom_id": "drawing", "values": ["111"]}},
    ]
    body["data"]["resolved"] = {"attachments": {"111": file}}
    found = received(posted(body))
    (sent,) = found.events
    assert (found.kind, sent.text, sent.canned_reply) == ("form", "name: Ada\nsizes: small, large", None)
    assert [file.name for file in sent.attachments] == ["engine.png"]
    assert sent.session_id == event("command_guild").session_id
    assert sent.target["deferred"] is True
    context = bounded(sent.context)
    assert json.loads(str(context["payload"])) == {"name": "Ada", "sizes": "small, large"}
    assert context["platform"] == {"serverId": "290926798626357999", "customId": "order"}


@pytest.mark.parametrize(
    "components",
    [
        None,
        {},
        "x",
        [],
        [None],
        [[]],
        [{"components": {}}],
        [{"component": []}],
        [{"component": {"values": [5]}}],
    ],
)
def test_a_form_without_values_is_known_by_its_id(components: object) -> None:
    (sent,) = form(components=components).events
    assert sent.text == "order"
    assert "payload" not in bounded(sent.context)


def test_a_form_of_nobody_is_refused_so_that_nothing_waits() -> None:
    body = fixture("modal_submit")
    del body["member"]
    found = received(posted(body))
    assert (found.kind, found.events) == ("ignored:incomplete", ())
    assert json.loads(found.answer.body)["type"] == 4
    assert form(custom_id=None).kind == "ignored:incomplete"


def test_a_form_counts_in_the_channels_that_were_chosen() -> None:
    found = receive({**CONFIG, "allowedChannels": "5"}, interaction("modal_submit"), NOW)
    assert (found.kind, json.loads(found.answer.body)["type"]) == ("ignored:channel", 4)


def test_a_ping_is_no_message() -> None:
    assert received(interaction("ping")).events == ()


def test_a_command_in_a_server() -> None:
    asked = event("command_guild")
    assert asked.text == "how hot is steam?"
    assert asked.key == "846462639134605311"
    assert asked.session_id == "772908445358620702:53908232506183680"
    assert (asked.sender.external_id, asked.sender.display_name) == ("53908232506183680", "Countess")
    assert asked.sender.identities == (Identity("gaming-chat", "53908232506183680"),)
    assert not asked.is_direct
    assert asked.target == {
        "channel_id": "772908445358620702",
        "application_id": "845027738276462632",
        "token": "interaction-token",
        "since": NOW.timestamp(),
        "max_file": 10485760,
        "deferred": True,
    }


def test_a_command_in_a_direct_message() -> None:
    asked = event("command_dm")
    assert (asked.sender.display_name, asked.is_direct) == ("Ada Byron", True)


def test_mentions_typed_into_an_option_are_read_as_in_a_message() -> None:
    body = fixture("command_guild")
    body["data"]["options"][0]["value"] = "<@845027738276462632>, tell <@5> and <@&7> about <:steam:9>"
    body["data"]["resolved"] = {"users": {"5": {"id": "5", "username": "charles"}}}
    (asked,) = received(posted(body)).events
    assert asked.text == "tell @charles and about :steam:"


def test_the_indentation_of_code_stays() -> None:
    code = "fix:\n```py\nif a:\n    return  1\n```"
    body = fixture("message_mention") | {"content": f"<@{CONFIG['applicationId']}> {code}"}
    (asked,) = received(forwarded(body, CONFIG["botToken"])).events
    assert asked.text == code


def test_options_of_subcommands_are_the_text() -> None:
    asked = event("command_nested")
    assert asked.text == "7 true @charles"
    url = "https://cdn.discordapp.com/ephemeral-attachments/1/plan.pdf"
    assert asked.attachments == (Attachment("plan.pdf", "application/pdf", {"url": url}, 321),)


def test_a_command_without_words_is_greeted() -> None:
    assert event("command_bare").canned_reply


def test_a_command_on_a_message_hands_the_message_on() -> None:
    assert event("command_on_message").text == "Steam is hot."


def test_a_pressed_button() -> None:
    pressed = event("component_button")
    assert (pressed.choice, pressed.text) == ("c:1:approve", "c:1:approve")
    assert pressed.session_id == event("command_guild").session_id
    assert pressed.target["prompt_id"] == "844397162624450620"
    assert "deferred" not in pressed.target


def test_chosen_options() -> None:
    pressed = event("component_select")
    assert (pressed.choice, pressed.text) == ("f, c", "f, c")


@pytest.mark.parametrize(
    "wrap",
    [
        lambda message: message,
        lambda message: {"op": 0, "t": "MESSAGE_CREATE", "s": 1, "d": message},
        lambda message: {"type": "GATEWAY_MESSAGE_CREATE", "timestamp": 1, "data": message},
    ],
    ids=["bare", "gateway frame", "event"],
)
def test_a_forwarded_mention(wrap: Any) -> None:
    (asked,) = received(forwarded(wrap(fixture("message_mention")))).events
    assert asked.text == "is :steam: hot, @charles?"
    assert asked.key == "880000000000000001"
    assert asked.session_id == "772908445358620702:53908232506183680"
    assert asked.target == {"channel_id": "772908445358620702", "reply_to": "880000000000000001"}


def test_a_signed_message_is_one_too() -> None:
    assert len(received(posted(fixture("message_dm"))).events) == 1


def test_a_direct_message_with_a_file() -> None:
    (asked,) = received(forwarded(fixture("message_dm"))).events
    assert (asked.text, asked.is_direct) == ("Good morning", True)
    assert asked.target == {"channel_id": "645027906669510667"}
    assert asked.attachments[0].name == "engine.png"


@pytest.mark.parametrize("token", ["", "wrong", "ü"])
def test_a_forwarder_must_know_the_token(token: str) -> None:
    with pytest.raises(Unauthenticated):
        received(forwarded(fixture("message_dm"), token))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("message_other", "ignored:not-addressed"),
        ("message_own", "ignored:bot"),
        ("message_join", "ignored:system"),
    ],
)
def test_what_is_not_answered(name: str, kind: str) -> None:
    assert received(forwarded(fixture(name))) == Received(kind=kind)


def test_a_mention_by_another_bot_is_refused() -> None:
    found = received(forwarded(fixture("message_from_bot")))
    assert ([(event.text, event.refused) for event in found.events], found.kind) == (
        [("ping", "bot")],
        "ignored:bot",
    )
    body = fixture("message_from_bot") | {"mentions": [], "content": "ping"}
    assert received(forwarded(body)) == Received(kind="ignored:bot")


def test_a_bare_mention_is_greeted() -> None:
    body = fixture("message_mention") | {"content": "<@!845027738276462632>"}
    (asked,) = received(forwarded(body)).events
    assert asked.canned_reply


@given(st.sampled_from(INTERACTIONS + MESSAGES), st.data())
def test_wrong_types_anywhere_never_crash(name: str, data: st.DataObject) -> None:
    body = fixture(name)
    changed = replaced(body, data.draw(st.sampled_from(places(body))), data.draw(JSON))
    for each in received(posted(changed)).events:
        json.dumps(each.target)
        assert isinstance(each.session_id, str)
        assert isinstance(each.text, str)


def test_a_command_that_cannot_be_read_is_answered_at_once() -> None:
    """Nothing would ever take the place of 'is thinking'."""
    body = {**fixture("command_guild"), "member": {}}
    received = receive(CONFIG, posted(body), NOW)
    answer = json.loads(received.answer.body)
    assert (received.events, answer["type"], answer["data"]["flags"]) == ((), 4, 64)


FILE = {"url": "https://cdn.example/a.png", "filename": "a.png"}


@pytest.mark.parametrize(
    ("name", "attachments", "is_partial"),
    [("message_dm", [], True), ("message_dm", [FILE], False), ("message_mention", [FILE], True)],
)
def test_the_files_and_the_thread_of_a_message_may_follow_over_the_gateway(
    name: str, attachments: list[Any], is_partial: bool
) -> None:
    message = fixture(name) | {"attachments": attachments}
    (asked,) = received(
        call(as_json=message, headers={webhook.FORWARDER_HEADER: str(CONFIG["botToken"])})
    ).events
    assert asked.is_partial == is_partial
