"""Events, slash commands and presses as Slack posts them, and as it never would."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.signature import Clock, SignatureVerifier

from adapters.outbound.channels.tests.support import NOW, call
from adapters.outbound.channels.workspace_chat import config as models
from adapters.outbound.channels.workspace_chat import webhook
from adapters.outbound.channels.workspace_chat.events import GREETING
from adapters.outbound.channels.workspace_chat.webhook import sign
from domain.channels.context import bounded
from domain.channels.messages import (
    Attachment,
    Change,
    Event,
    Identity,
    RawAnswer,
    RawCall,
    Received,
    SessionAlias,
)
from domain.refusals import Invalid, NotFound, Unauthenticated
from tests.support.hostile import JSON, places, replaced
from tests.support.platforms.slack import SECRET

from .samples import CONFIG, FIXTURES, as_posted, fixture, recorded, signed, tampered


def receive(
    config: Mapping[str, Any], given: RawCall, metadata: Mapping[str, Any], now: datetime
) -> Received:
    return webhook.receive(models.CONFIG.load(config), given, metadata, now)


KNOWN = {"user_id": "U0BOT"}


def received(given: RawCall, known: dict[str, str] = KNOWN) -> Received:
    return receive(CONFIG, given, known, NOW)


def event(name: str) -> Event:
    (found,) = received(recorded(name)).events
    return found


def mention(text: str, known: dict[str, str] = KNOWN, /, **changed: Any) -> Received:
    body = fixture("app_mention")
    body["event"] |= {"text": text, **changed}
    body.pop("authorizations")
    return received(as_posted("app_mention", body), known)


class FixedClock(Clock):
    def now(self) -> float:
        return NOW.timestamp()


@given(st.text())
def test_signatures_agree_with_slacks_own_verifier(text: str) -> None:
    body = text.encode()
    stamp = str(int(NOW.timestamp()))
    verifier = SignatureVerifier(SECRET, FixedClock())
    assert verifier.generate_signature(timestamp=stamp, body=body) == sign(SECRET, stamp, body)


@pytest.mark.parametrize("forged", tampered())
def test_forged_and_repeated_calls_are_refused(forged: RawCall) -> None:
    with pytest.raises(Unauthenticated):
        received(forged)


def test_without_a_secret_nothing_is_accepted() -> None:
    stamp = str(int(NOW.timestamp()))
    headers = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": sign("", stamp, b"{}")}
    with pytest.raises(Unauthenticated):
        receive({"signingSecret": ""}, call(body=b"{}", headers=headers), {}, NOW)


def test_other_callbacks_do_not_exist() -> None:
    with pytest.raises(NotFound):
        received(call(callback="other"))


@pytest.mark.parametrize("body", [b"{", b"{}x", b'{"a":' * 90_000])
def test_broken_json_is_invalid(body: bytes) -> None:
    with pytest.raises(Invalid):
        received(signed(body))


@pytest.mark.parametrize("form", [b"", b"payload=", b"payload=[]", b"a=1", b"command=/ask"])
def test_a_broken_form_is_invalid(form: bytes) -> None:
    with pytest.raises(Invalid):
        received(signed(form, "application/x-www-form-urlencoded"))


def test_the_challenge_is_echoed() -> None:
    found = received(recorded("url_verification"))
    assert found.kind == "challenge"
    assert found.events == ()
    assert found.answer.status == 200
    assert found.answer.body == fixture("url_verification")["challenge"].encode()
    assert found.answer.headers["content-type"].startswith("text/plain")


def test_a_mention() -> None:
    found = received(recorded("app_mention"))
    assert found.answer == RawAnswer(200, b"")
    asked = found.events[0]
    assert asked.text == "how hot is steam (https://steam.example) & ice?"
    assert asked.key == "C0ROOM:1800000001.000100"
    assert asked.session_id == "C0ROOM"
    assert asked.sender.external_id == "U0ADA"
    assert asked.sender.identities == (Identity("workspace-chat", "U0ADA"),)
    assert asked.target == {"channel": "C0ROOM"}
    assert not asked.is_direct


def test_a_mention_arrives_twice_and_is_one_event() -> None:
    mention = event("app_mention")
    assert mention.is_partial
    assert event("message_mention") == replace(mention, merge=None)


def test_a_thread_is_a_conversation_of_its_own() -> None:
    asked = event("app_mention_in_thread")
    assert asked.session_id == "C0ROOM:1800000001.000100"
    assert asked.target == {"channel": "C0ROOM", "thread_ts": "1800000001.000100", "bot": "U0BOT"}
    assert asked.text == "and now, ?"


def test_a_direct_message() -> None:
    asked = event("message_im")
    assert (asked.text, asked.session_id, asked.is_direct) == ("Good morning", "D0ADA", True)


def test_a_thread_of_a_direct_message_belongs_to_its_conversation() -> None:
    body = fixture("message_im")
    body["event"]["thread_ts"] = "1800000001.000100"
    (asked,) = received(as_posted("message_im", body)).events
    assert asked.session_id == "D0ADA"
    assert asked.target["thread_ts"] == "1800000001.000100"


def of_agent(**changed: Any) -> dict[str, Any]:
    """A message in a thread of Slack's agent surface."""
    body = fixture("message_im")
    body["event"] |= {
        "thread_ts": "1800000001.000100",
        "assistant_thread": {"action_token": "1.2.ab"},
        **changed,
    }
    return body


def test_a_thread_of_the_agent_surface_is_a_conversation_of_its_own() -> None:
    (asked,) = received(as_posted("message_im", of_agent())).events
    assert (asked.session_id, asked.is_direct) == ("D0ADA:1800000001.000100", True)
    assert asked.target["thread_ts"] == "1800000001.000100"
    assert asked.quoted is None
    (other,) = received(as_posted("message_im", of_agent(thread_ts="1800000002.000100"))).events
    assert other.session_id == "D0ADA:1800000002.000100"


def test_a_chat_that_was_opened_or_written_in_is_remembered() -> None:
    chat = "D0ADA:1800000001.000100"
    aliases = (SessionAlias(chat, chat),)
    opened, written = received(recorded("assistant_thread_started")), received(recorded("message_im_agent"))
    assert (opened.session_aliases, opened.events) == (aliases, ())
    assert written.session_aliases == aliases
    assert event("message_im_in_thread").alias == chat
    assert (event("message_im").alias, event("message_im_agent").alias) == ("", "")


def test_a_press_in_a_thread_of_direct_messages_belongs_to_the_chat_if_it_is_one() -> None:
    body = fixture("block_actions")
    body["channel"] = {"id": "D0ADA", "name": "directmessage"}
    (pressed,) = received(as_posted("block_actions", body)).events
    assert (pressed.session_id, pressed.alias) == ("D0ADA", "D0ADA:1800000001.000100")


def test_an_edit_in_a_thread_of_direct_messages_belongs_to_the_chat_if_it_is_one() -> None:
    body, message = fixture("message_changed"), fixture("message_im_in_thread")["event"]
    body["event"] |= {"channel": "D0ADA", "channel_type": "im"}
    body["event"]["message"] = {**message, "text": "Good night!"}
    (edited,) = received(as_posted("message_changed", body)).events
    assert (edited.session_id, edited.alias) == ("D0ADA", "D0ADA:1800000001.000100")


def test_the_command_and_the_channel_of_a_slash_command() -> None:
    context = bounded(event("slash_command").context)
    assert context["command"] == "ask"
    assert isinstance(context["group"], dict)
    assert set(context["group"]) == {"id", "name"}


def test_a_file_alone_is_a_message() -> None:
    asked = event("message_im_files")
    url = "https://files.slack.com/files-pri/T0-F1/download/engine.png"
    assert asked.text == ""
    assert asked.canned_reply is None
    assert asked.attachments == (Attachment("engine.png", "image/png", {"id": "F1", "url": url}, 4200),)


def test_without_a_time_stamp_the_events_id_counts() -> None:
    body = fixture("message_im")
    del body["event"]["ts"]
    (asked,) = received(as_posted("message_im", body)).events
    assert asked.key == body["event_id"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("message_channel", "ignored:not-addressed"),
        ("message_own", "ignored:bot"),
        ("reaction_added", "ignored:reaction"),
    ],
)
def test_what_is_not_answered(name: str, kind: str) -> None:
    assert received(recorded(name)) == Received(kind=kind)


def test_an_edit_names_the_message_that_it_replaces() -> None:
    (edited,) = received(recorded("message_changed")).events
    assert (edited.change, edited.message_id) == (Change.EDITED, "D0ADA:1800000003.000300")
    assert (edited.session_id, edited.text) == ("D0ADA", "edited")


def test_a_preview_of_a_link_is_no_edit() -> None:
    body = fixture("message_changed")
    body["event"]["previous_message"]["text"] = body["event"]["message"]["text"]
    assert received(as_posted("message_changed", body)).kind == "ignored:preview"


def test_an_edit_of_the_bots_own_message_is_ignored() -> None:
    body = fixture("message_changed")
    body["event"]["message"]["user"] = "U0BOT"
    assert received(as_posted("message_changed", body)).events == ()


def test_a_deletion_names_its_message() -> None:
    (deleted,) = received(recorded("message_deleted")).events
    assert (deleted.change, deleted.message_id) == (Change.DELETED, "D0ADA:1800000003.000300")


def test_a_reaction_to_a_message_of_the_bot_is_a_message_where_it_is_wanted() -> None:
    body = fixture("reaction_added")
    body["event"]["item_user"] = "U0BOT"
    wanted = {**CONFIG, "reactions": True}
    call = as_posted("reaction_added", body)
    (event,) = receive(wanted, call, KNOWN, NOW).events
    assert (event.reaction, event.text, event.sender.external_id) == ("\N{STEAM LOCOMOTIVE}", "", "U0ADA")
    assert event.context == {"group": {"id": body["event"]["item"]["channel"]}}
    assert received(as_posted("reaction_added", body)).kind == "ignored:reaction"
    to_somebody_else = receive(wanted, recorded("reaction_added"), KNOWN, NOW)
    assert to_somebody_else.kind == "ignored:reaction"


def test_the_bots_own_message_without_a_bot_id_is_not_answered() -> None:
    assert mention("<@U0BOT> hello", user="U0BOT").kind == "ignored:own"


def test_a_reminder_of_slackbot_is_not_answered() -> None:
    found = mention("Reminder: <@U0BOT> tell the weather", user="USLACKBOT")
    assert ([event.refused for event in found.events], found.kind) == (["bot"], "ignored:bot")


def test_a_mention_by_another_bot_is_refused() -> None:
    found = received(recorded("message_from_bot"))
    (refused,) = found.events
    assert (refused.text, refused.refused, refused.sender.external_id) == ("ping", "bot", "B0OTHER")
    assert found.kind == "ignored:bot"


@pytest.mark.parametrize(
    "content", [{"text": "ping"}, {"text": "<@U0BOT> hi", "user": "U0BOT"}, {"subtype": "message_replied"}]
)
def test_what_a_bot_says_to_others_and_the_own_messages_are_not_listed(content: dict[str, str]) -> None:
    body = fixture("message_from_bot")
    body["event"] |= content
    assert received(as_posted("message_from_bot", body)) == Received(kind="ignored:bot")


@pytest.mark.parametrize("known", [KNOWN, {}])
@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("<@U0BOT> hello", "hello"),
        ("<@U0BOT|agent>, hello <@U0CHARLES>", "hello @U0CHARLES"),
        ("<@U0BOT> see <#C1|engine-room> and <!here> &lt;b&gt;", "see #engine-room and @here <b>"),
        ("<@U0BOT> write <mailto:a@b.example|a@b.example>", "write a@b.example"),
        ("<@U0BOT> 1 < 2 > 0", "1 < 2 > 0"),
    ],
)
def test_text_is_handed_on_as_a_person_reads_it(text: str, heard: str, known: dict[str, str]) -> None:
    (asked,) = mention(text, known).events
    assert asked.text == heard


def test_the_bots_name_is_found_in_older_events() -> None:
    body = fixture("app_mention")
    body.pop("authorizations")
    body["authed_users"] = ["U0BOT"]
    body["event"]["text"] = "hello <@U0BOT>"
    (asked,) = received(as_posted("app_mention", body), {}).events
    assert asked.text == "hello"


def test_a_mention_of_the_bot_under_another_id_is_cut_out() -> None:
    (asked,) = mention("<@W0BOT> how hot?", {"user_id": "U0BOT"}).events
    assert asked.text == "how hot?"


def test_who_installed_an_older_app_is_answered() -> None:
    body = fixture("message_im")
    body.pop("authorizations")
    body["authed_users"] = ["U0ADA"]
    assert len(received(as_posted("message_im", body), {}).events) == 1


def test_a_bare_mention_is_greeted() -> None:
    (asked,) = mention("<@U0BOT>").events
    assert asked.canned_reply == GREETING


def test_a_slash_command_is_acknowledged_to_its_sender_alone() -> None:
    found = received(recorded("slash_command"))
    assert found.answer.status == 200
    assert found.answer.headers["content-type"].startswith("application/json")
    assert json.loads(found.answer.body)["response_type"] == "ephemeral"
    asked = found.events[0]
    assert asked.text == "how hot is steam?"
    assert (asked.key, asked.session_id) == ("slash:1.2.3abc", "C0ROOM")
    assert (asked.sender.external_id, asked.sender.display_name) == ("U0ADA", "ada")
    assert asked.target["response_url"] == "https://hooks.slack.com/commands/T0STEAM/1/abc"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("<@U0BOT|switch> is 1 &lt; 2 &amp; 3?", "is 1 < 2 & 3?"),
        (
            "ask <@U0ADA|ada> in <#C1|room> about <https://a.example|this>",
            "ask @ada in #room about this (https://a.example)",
        ),
        ("what is <b> in List<int> or a <- b?", "what is <b> in List<int> or a <- b?"),
    ],
)
def test_the_text_of_a_slash_command_is_read_as_that_of_a_message(typed: str, words: str) -> None:
    form = fixture("slash_command") | {"text": typed}
    (asked,) = received(as_posted("slash_command", form)).events
    assert asked.text == words


def test_a_slash_command_with_the_mention_alone_is_greeted() -> None:
    form = fixture("slash_command") | {"text": "<@U0BOT>"}
    (asked,) = received(as_posted("slash_command", form)).events
    assert asked.canned_reply


def test_a_slash_command_without_words_is_greeted() -> None:
    form = fixture("slash_command") | {"text": " "}
    (asked,) = received(as_posted("slash_command", form)).events
    assert asked.canned_reply == GREETING


def changed(name: str, **content: Any) -> Received:
    """A recorded body with other members; those that are None are missing."""
    body = {key: value for key, value in (fixture(name) | content).items() if value is not None}
    return received(as_posted(name, body))


def test_a_shortcut_is_a_message_with_its_callback_id() -> None:
    found = received(recorded("shortcut"))
    assert (found.answer, found.kind) == (RawAnswer(200, b""), "shortcut")
    (called,) = found.events
    assert (called.key, called.text, called.canned_reply) == ("shortcut:7.8.9", "open", None)
    assert (called.sender.external_id, called.sender.display_name) == ("U0ADA", "ada")
    assert (called.target["channel"], called.target["user"], called.is_direct) == ("U0ADA", "U0ADA", True)
    assert bounded(called.context) == {"command": "open"}


def test_a_shortcut_of_a_message_hands_on_its_text_and_files_and_is_answered_in_its_thread() -> None:
    message = fixture("message_action")["message"] | {
        "text": "The server is down since <https://status.example|noon> &amp; nobody knows why",
        "files": fixture("message_im_files")["event"]["files"],
    }
    found = changed("message_action", message=message)
    assert (found.answer, found.kind) == (RawAnswer(200, b""), "shortcut")
    (called,) = found.events
    assert called.text == "The server is down since noon (https://status.example) & nobody knows why"
    assert [file.name for file in called.attachments] == ["engine.png"]
    assert called.session_id == event("app_mention_in_thread").session_id
    assert (called.target["channel"], called.target["thread_ts"]) == ("C0ROOM", "1800000001.000100")
    assert bounded(called.context) == {
        "command": "summarise",
        "group": {"id": "C0ROOM", "name": "engine-room"},
        "forwarded": {"author": "U0BOB", "at": "2027-01-15T08:00:02.000Z"},
    }


def test_a_shortcut_of_a_message_outside_of_threads_is_answered_in_the_channel() -> None:
    message = {"user": "U0BOB", "text": "It is hot.", "ts": "1800000002.000200"}
    (called,) = changed("message_action", message=message).events
    assert (called.session_id, "thread_ts" in called.target) == ("C0ROOM", False)
    call = as_posted("message_action", fixture("message_action") | {"message": message})
    (called,) = receive({**CONFIG, "replyInThread": True}, call, KNOWN, NOW).events
    assert called.session_id == "C0ROOM:1800000002.000200"


def test_a_shortcut_of_a_message_without_words_hands_on_its_callback_id() -> None:
    for message in (None, {}, [], "x", {"ts": "1800000002.000200", "blocks": [{"type": "image"}]}):
        (called,) = changed("message_action", message=message).events
        assert called.text == "summarise"
    shared = [{"is_share": True, "author_name": "Bob", "text": "It is hot."}]
    (called,) = changed("message_action", message={"text": "", "attachments": shared}).events
    assert called.text == "It is hot."


def test_a_shortcut_of_a_message_counts_in_the_channels_that_were_chosen() -> None:
    call = recorded("message_action")
    assert receive({**CONFIG, "allowedChannels": "C0OTHER"}, call, KNOWN, NOW).kind == "ignored:channel"
    assert receive({**CONFIG, "allowedChannels": "C0ROOM"}, call, KNOWN, NOW).kind == "shortcut"


@pytest.mark.parametrize("name", ["shortcut", "message_action"])
@pytest.mark.parametrize("gone", ["user", "callback_id"])
@pytest.mark.parametrize("value", [None, "", {}, [], True])
def test_a_shortcut_of_nobody_or_without_a_callback_id_is_acknowledged(
    name: str, gone: str, value: object
) -> None:
    assert changed(name, **{gone: value}) == Received(kind="ignored:incomplete")


def test_slacks_certificate_check_is_acknowledged() -> None:
    form = urlencode({"token": "x", "ssl_check": "1"}).encode()
    assert received(signed(form, "application/x-www-form-urlencoded")).kind == "ignored:ssl-check"


def test_a_pressed_button() -> None:
    found = received(recorded("block_actions"))
    assert found.answer == RawAnswer(200, b"")
    pressed = found.events[0]
    assert (pressed.choice, pressed.text) == ("c:1:approve", "c:1:approve")
    assert pressed.session_id == event("app_mention_in_thread").session_id
    assert pressed.key == "action:1800000011.001100:1800000012.345678:choice_1"
    assert pressed.target["thread_ts"] == "1800000001.000100"
    assert pressed.target["prompt_ts"] == "1800000011.001100"


def test_a_chosen_option_counts_as_a_button() -> None:
    body = fixture("block_actions")
    option = {"text": {"type": "plain_text", "text": "Later"}, "value": "later"}
    body["actions"] = [
        {"type": "static_select", "action_id": "s", "action_ts": "1.2", "selected_option": option}
    ]
    (pressed,) = received(as_posted("block_actions", body)).events
    assert (pressed.choice, pressed.text) == ("later", "later")


def test_a_button_that_only_opens_an_address_is_not_answered() -> None:
    body = fixture("block_actions")
    del body["actions"][0]["value"]
    assert received(as_posted("block_actions", body)).kind == "ignored:no-value"


@given(st.sampled_from(sorted(path.stem for path in FIXTURES.glob("*.json"))), st.data())
def test_wrong_types_anywhere_never_crash(name: str, data: st.DataObject) -> None:
    body = fixture(name)
    changed = replaced(body, data.draw(st.sampled_from(places(body))), data.draw(JSON))
    try:
        found = received(as_posted(name, changed), {})
    except Invalid:
        return
    for each in found.events:
        json.dumps(each.target)
        assert isinstance(each.session_id, str)
        assert isinstance(each.text, str)


def test_all_messages_that_are_shared_are_quoted() -> None:
    body = fixture("message_im")
    shared = [
        {"is_msg_unfurl": True, "author_name": "Bob", "text": "The server is down"},
        {
            "is_share": True,
            "author_name": "Eve",
            "text": "Since noon",
            "files": [{"id": "F1", "name": "a.png"}],
        },
    ]
    body["event"] |= {"text": "", "attachments": shared}
    (event,) = received(as_posted("message_im", body)).events
    assert event.quoted is not None
    assert (event.quoted.text, event.quoted.author) == ("The server is down\n\nSince noon", "Bob")
    assert [file.name for file in event.quoted.attachments] == ["a.png"]
