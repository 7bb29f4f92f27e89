"""Updates as Telegram posts them, and as it never would."""

from typing import Any

import pytest
import telegram
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.bot_messenger import webhook
from adapters.outbound.channels.bot_messenger.config import CONFIG as MODEL
from adapters.outbound.channels.bot_messenger.webhook import GREETING, secret_of
from adapters.outbound.channels.tests.calls import receiver
from adapters.outbound.channels.tests.support import call
from domain.channels.context import bounded
from domain.channels.messages import (
    Attachment,
    Event,
    Identity,
    Merge,
    Quoted,
    RawAnswer,
    RawCall,
    Received,
    SessionRename,
)
from domain.refusals import Invalid, NotFound, Unauthenticated
from tests.support.hostile import JSON, places, replaced
from tests.support.platforms.telegram import TOKEN, USERNAME

from .samples import CONFIG, FIXTURES, fixture, posted, tampered, update

receive = receiver(webhook, MODEL)
KNOWN = {"username": USERNAME}


def received(given: RawCall) -> Received:
    return receive(CONFIG, given, KNOWN)


def event(name: str) -> Event:
    (found,) = received(update(name)).events
    return found


def said(text: str, known: dict[str, str] | None = None, **more: Any) -> Event:
    body = fixture("message_text")
    body["message"] |= {"text": text, **more}
    unmentioned = {**CONFIG, "requireMention": False}
    (found,) = receive(unmentioned, posted(body), KNOWN if known is None else known).events
    return found


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.stem)
def test_fixtures_are_updates_that_a_client_library_reads(path: Any) -> None:
    read = telegram.Update.de_json(fixture(path.stem), bot=None)
    assert read.update_id > 0
    assert read.message or read.edited_message or read.callback_query or read.inline_query


@pytest.mark.parametrize("forged", tampered())
def test_a_call_without_the_secret_is_refused(forged: RawCall) -> None:
    with pytest.raises(Unauthenticated):
        received(forged)


def test_without_a_token_nothing_is_accepted() -> None:
    with pytest.raises(Unauthenticated):
        receive({"botToken": ""}, posted(fixture("message_text"), secret_of("")), {})


def test_other_callbacks_do_not_exist() -> None:
    with pytest.raises(NotFound):
        receive(CONFIG, call(callback="other"), {})


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_object_is_invalid(body: bytes) -> None:
    with pytest.raises(Invalid):
        received(call(body=body, headers={"X-Telegram-Bot-Api-Secret-Token": secret_of(TOKEN)}))


def test_a_message() -> None:
    found = received(update("message_text"))
    assert found.answer == RawAnswer(200, b"")
    assert found.missing_proof_field is None
    message = found.events[0]
    assert message.text == "When does the engine stop?"
    assert message.key == "987654321:70001"
    assert message.session_id == "5550001"
    assert message.sender.external_id == "5550001"
    assert message.sender.display_name == "Ada Byron"
    assert message.sender.identities == (Identity("bot-messenger", "5550001"),)
    assert message.is_direct
    assert message.target == {"chat_id": 5550001}


def test_an_edited_message_is_a_message_of_its_own() -> None:
    edited = event("edited_message")
    assert edited.text == "When does the engine start?"
    assert edited.session_id == event("message_text").session_id
    assert edited.key != event("message_text").key


@pytest.mark.parametrize("name", ["message_start", "message_help"])
def test_start_and_help_are_greeted(name: str) -> None:
    assert event(name).canned_reply == GREETING


def test_what_a_link_to_the_bot_hands_on_is_handed_on() -> None:
    started = event("message_start_link")
    assert (started.text, started.canned_reply) == ("invite42", None)
    assert (started.context["command"], started.context["payload"]) == ("start", "invite42")


@pytest.mark.parametrize(
    ("text", "heard", "payload"),
    [
        ("/start", "", ""),
        ("/start ", "", ""),
        ("/start@agent_bot a_B-9", "a_B-9", "a_B-9"),
        ("/start how hot is it?", "how hot is it?", ""),
        (f"/start {'x' * 65}", "x" * 65, ""),
        ("/ask invite42", "invite42", ""),
    ],
)
def test_the_words_behind_start_are_a_payload_where_a_link_may_have_them(
    text: str, heard: str, payload: str
) -> None:
    body = fixture("message_start")
    body["message"]["text"] = text
    (started,) = received(posted(body)).events
    assert (started.text, started.context["payload"]) == (heard, payload)
    assert (started.canned_reply == GREETING) == (not heard)


def test_the_data_of_a_web_app_is_a_message() -> None:
    sent = event("message_web_app")
    assert (sent.text, sent.canned_reply) == ("size-large", None)
    context = bounded(sent.context)
    assert context["payload"] == "size-large"
    assert context["platform"] == {"username": "adab", "buttonText": "Choose a size"}


@pytest.mark.parametrize("odd", [None, [], "x", 5, {}, {"data": ""}, {"data": {}}, {"button_text": "Choose"}])
def test_a_web_app_without_data_is_no_message(odd: object) -> None:
    body = fixture("message_web_app")
    body["message"]["web_app_data"] = odd
    assert received(posted(body)).kind == "ignored:service"


def test_the_name_of_a_command_is_not_handed_on() -> None:
    asked = event("message_command")
    assert (asked.text, asked.canned_reply) == ("how hot is steam?", None)


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("@agent_bot hello", "hello"),
        ("@AGENT_bot, hello", "hello"),
        ("please @agent_bot help me", "please help me"),
        ("/ask@agent_bot how hot?", "how hot?"),
        ("ada@agent_bot.example is an address", "ada@agent_bot.example is an address"),
        ("/etc/hosts is a file", "/etc/hosts is a file"),
        ("@agent_bots are others", "@agent_bots are others"),
        ("nul\0 goes", "nul goes"),
    ],
)
def test_the_mention_of_the_bot_is_not_handed_on(text: str, heard: str) -> None:
    assert said(text).text == heard


def test_while_the_bots_name_is_unknown_a_leading_bot_is_taken_for_it() -> None:
    assert said("@some_bot hello @ada", known={}).text == "hello @ada"
    assert said("@ada hello", known={}).text == "@ada hello"


@pytest.mark.parametrize("text", ["@agent_bot", "/ask", "/ask@agent_bot"])
def test_a_bare_call_of_the_bot_is_greeted(text: str) -> None:
    assert said(text).canned_reply == GREETING


def test_a_command_to_another_bot_is_not_answered() -> None:
    body = fixture("message_text")
    body["message"]["text"] = "/start@other_bot"
    assert received(posted(body)) == Received(kind="ignored:other-bot")


def test_a_topic_of_a_group_is_a_conversation_of_its_own() -> None:
    asked = event("message_topic")
    assert asked.session_id == "-1002000300040:7"
    assert asked.text == "is it running?"
    assert not asked.is_direct
    assert asked.target == {"chat_id": -1002000300040, "message_thread_id": 7, "reply_to": 20}


@pytest.mark.parametrize("settings", [{}, {"allowedChannels": "-4001"}, {"allowedChannels": "-9"}])
@pytest.mark.parametrize(
    "message",
    [
        {"chat": {"id": -4001, "type": "group"}, "migrate_to_chat_id": -1004001},
        {"chat": {"id": -1004001, "type": "supergroup"}, "migrate_from_chat_id": -4001},
    ],
)
def test_a_group_that_becomes_a_supergroup_goes_on_under_its_new_id(
    message: dict[str, Any], settings: dict[str, Any]
) -> None:
    update = {"update_id": 1, "message": {"message_id": 7, "date": 1780000000, "from": {"id": 5}, **message}}
    found = receive({**CONFIG, **settings}, posted(update), KNOWN)
    assert found.session_renames == (SessionRename("-4001", "-1004001", of_place=True),)
    assert found.events == ()


def test_the_language_the_group_and_the_topic() -> None:
    assert bounded(event("message_topic").context) == {
        "language": "en",
        "group": {"id": "-1002000300040", "name": "Engine room"},
        "platform": {"username": "adab", "topicId": "7"},
    }


def test_the_user_of_a_contact_and_the_bot_that_a_message_came_through() -> None:
    assert bounded(event("message_contact").context)["platform"] == {
        "username": "adab",
        "contactUserId": "5550002",
    }
    message = fixture("message_topic")
    message["message"]["via_bot"] = {"id": 9, "is_bot": True, "username": "gif"}
    (sent,) = received(posted(message)).events
    assert bounded(sent.context)["platform"] == {"username": "adab", "topicId": "7", "viaBot": "gif"}


def test_the_command_that_was_called() -> None:
    assert event("message_command").context["command"] == "ask"


def test_the_topic_general_belongs_to_the_conversation_of_the_group() -> None:
    group = {"id": -100, "type": "supergroup", "title": "Works", "is_forum": True}
    asked = said("@agent_bot hello", chat=group, message_thread_id=1, is_topic_message=True)
    assert asked.session_id == "-100"


def test_a_thread_that_is_no_topic_is_not_named_when_answering() -> None:
    assert "message_thread_id" not in said("hello", message_thread_id=9).target


def test_a_reply_in_a_group_without_topics_goes_on_with_the_groups_conversation() -> None:
    group = {"id": -100, "type": "supergroup"}
    asked = said("run the tool", chat=group)
    prompt = {
        "message_id": 31,
        "chat": group,
        "message_thread_id": 30,
        "reply_to_message": {"message_id": 30},
    }
    typed = said("yes", chat=group, message_thread_id=30, reply_to_message=prompt)
    body = fixture("callback_query")
    body["callback_query"]["message"] = prompt
    (pressed,) = received(posted(body)).events
    assert {asked.session_id, typed.session_id, pressed.session_id} == {"-100"}
    topic = said("yes", chat=group, message_thread_id=7, is_topic_message=True, reply_to_message=prompt)
    assert topic.session_id == "-100:7"


def test_the_pictures_of_an_album_have_its_id_in_common_and_their_order() -> None:
    body = fixture("message_photo")
    body["message"]["media_group_id"] = "13579"
    (photo,) = received(posted(body)).events
    assert photo.merge == Merge("13579", 15)
    assert event("message_photo").merge is None


def test_a_photo_is_taken_in_its_largest_size() -> None:
    photo = event("message_photo")
    assert photo.text == "Which part is this?"
    assert photo.attachments == (Attachment("photo.jpg", "image/jpeg", {"file_id": "AgFile1"}, 84000),)


def test_a_document_alone_is_a_message() -> None:
    (file,) = event("message_document").attachments
    assert (file.name, file.mime_type, file.size) == ("plan.pdf", "application/pdf", 123456)
    assert event("message_document").canned_reply is None


def test_a_voice_message() -> None:
    (file,) = event("message_voice").attachments
    assert (file.name, file.mime_type) == ("voice.ogg", "audio/ogg")


def test_a_gif_is_one_file() -> None:
    file = {"file_id": "g", "mime_type": "video/mp4", "file_name": "g.mp4"}
    assert len(said("", animation=file, document=file).attachments) == 1


def test_places_and_contacts_are_put_in_words() -> None:
    assert event("message_location").text == "Location: 51.5014, -0.1419"
    assert event("message_contact").text == "Contact: Charles +441632960000"


def test_a_live_location_is_told_once_and_not_at_every_step() -> None:
    place = {"latitude": 51.5, "longitude": -0.14, "live_period": 900}
    assert said("", location=place).text == "Location: 51.5, -0.14"
    step = fixture("edited_message")
    del step["edited_message"]["text"]
    step["edited_message"]["location"] = place
    assert received(posted(step)) == Received(kind="ignored:live-location")


def test_a_pressed_button() -> None:
    pressed = event("callback_query")
    assert (pressed.choice, pressed.text) == ("c:1:approve", "c:1:approve")
    assert pressed.session_id == "5550001"
    assert pressed.target == {"chat_id": 5550001, "callback_query_id": "99000000001", "prompt_id": 30}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("message_from_bot", "ignored:bot"),
        ("message_service", "ignored:service"),
        ("callback_query_inline", "ignored:inline"),
        ("inline_query", "ignored:other"),
    ],
)
def test_what_is_not_answered(name: str, kind: str) -> None:
    assert receive({**CONFIG, "requireMention": False}, update(name), KNOWN) == Received(kind=kind)


def test_the_same_number_of_another_bot_is_another_event() -> None:
    other = "1:AAother"
    body = fixture("message_text")
    (found,) = receive({"botToken": other}, posted(body, secret_of(other)), {}).events
    assert found.key == "1:70001"


@given(st.sampled_from(sorted(path.stem for path in FIXTURES.glob("*.json"))), st.data())
def test_wrong_types_anywhere_never_crash(name: str, data: st.DataObject) -> None:
    body = fixture(name)
    changed = replaced(body, data.draw(st.sampled_from(places(body))), data.draw(JSON))
    for found in received(posted(changed)).events:
        assert isinstance(found.session_id, str)
        assert isinstance(found.text, str)


ORIGINAL = {
    "message_id": 1,
    "from": {"id": 7, "is_bot": False, "first_name": "Bob", "last_name": "Smith"},
    "chat": {"id": 5550001, "type": "private"},
    "date": 1780000000,
}
GROUP = {"id": -100, "title": "Engine room", "type": "supergroup"}


@pytest.mark.parametrize(
    ("added", "quoted"),
    [
        ({"reply_to_message": {**ORIGINAL, "text": "It is hot."}}, Quoted("It is hot.", "Bob Smith")),
        (
            {"reply_to_message": {**ORIGINAL, "caption": "The engine", "photo": [{"file_id": "f1"}]}},
            Quoted(
                "The engine", "Bob Smith", (Attachment("photo.jpg", "image/jpeg", {"file_id": "f1"}, None),)
            ),
        ),
        (
            {"reply_to_message": {**ORIGINAL, "text": "It is hot."}, "quote": {"text": "hot", "position": 6}},
            Quoted("hot", "Bob Smith"),
        ),
        (
            {
                "reply_to_message": {
                    **ORIGINAL,
                    "text": "It is.",
                    "from": {"id": int(TOKEN.partition(":")[0]), "is_bot": True},
                }
            },
            Quoted("It is.", "resource"),
        ),
        (
            {"reply_to_message": {"message_id": 1, "chat": GROUP, "sender_chat": GROUP, "text": "Hi"}},
            Quoted("Hi", "Engine room"),
        ),
        (
            {
                "external_reply": {"origin": {"type": "hidden_user", "sender_user_name": "Eve"}},
                "quote": {"text": "Look", "position": 0},
            },
            Quoted("Look", "Eve"),
        ),
        (
            {"external_reply": {"origin": {"sender_user": {"id": 8, "first_name": "Eve"}}, "photo": []}},
            None,
        ),
        ({"reply_to_message": {**ORIGINAL, "forum_topic_created": {"name": "Topic"}}}, None),
        ({"reply_to_message": {**ORIGINAL, "pinned_message": {}}}, None),
        ({"reply_to_message": "hostile", "quote": 7}, None),
        ({}, None),
    ],
)
def test_what_is_replied_to(added: dict[str, Any], quoted: Quoted | None) -> None:
    body = fixture("message_text")
    body["message"] |= added
    (found,) = received(posted(body)).events
    assert found.quoted == quoted


def in_group(settings: dict[str, Any], **changed: Any) -> Received:
    body = fixture("message_text")
    body["message"] |= {"chat": {**GROUP, "username": "engines"}, "text": "is it hot?", **changed}
    return receive({**CONFIG, **settings}, posted(body), KNOWN)


@pytest.mark.parametrize(
    ("settings", "changed", "kind"),
    [
        ({}, {}, "ignored:not-addressed"),
        ({"requireMention": False}, {}, "message"),
        ({"requireMention": True}, {}, "ignored:not-addressed"),
        ({"requireMention": True}, {"text": f"@{USERNAME} is it hot?"}, "message"),
        ({"requireMention": True}, {"text": "/ask is it hot?"}, "message"),
        ({"requireMention": True}, {"text": "/ask@other_bot is it hot?"}, "ignored:not-addressed"),
        (
            {"requireMention": True},
            {"reply_to_message": {"from": {"id": int(TOKEN.partition(":")[0])}, "text": "It is."}},
            "message",
        ),
        ({"requireMention": True}, {"reply_to_message": ORIGINAL}, "ignored:not-addressed"),
        ({"allowedChannels": "-7,-8"}, {}, "ignored:channel"),
        ({"allowedChannels": "-7, -100", "requireMention": False}, {}, "message"),
        ({"allowedChannels": "@engines", "requireMention": False}, {}, "message"),
    ],
)
def test_messages_of_groups(settings: dict[str, Any], changed: dict[str, Any], kind: str) -> None:
    assert in_group(settings, **changed).kind == kind


def test_a_private_chat_needs_no_permission_and_no_mention() -> None:
    settings = {"allowedChannels": "-7", "requireMention": True}
    assert receive({**CONFIG, **settings}, update("message_text"), KNOWN).events


def test_a_button_of_a_group_that_is_not_allowed_is_ignored() -> None:
    body = fixture("callback_query")
    body["callback_query"]["message"]["chat"] = GROUP
    assert receive({**CONFIG, "requireMention": True}, posted(body), KNOWN).events
    assert receive({**CONFIG, "allowedChannels": "-7"}, posted(body), KNOWN).kind == "ignored:channel"


@pytest.mark.parametrize(
    ("data", "message", "claimed"),
    [
        (
            "again",
            {"reply_markup": {"inline_keyboard": [[{"text": "Again", "callback_data": "again"}]]}},
            False,
        ),
        ("again", {"reply_markup": {"inline_keyboard": [[{"text": "Stop", "callback_data": "stop"}]]}}, True),
        ("again", {"reply_markup": None}, True),
        ("again", {"reply_markup": None, "date": 0}, False),
        ("choice:out-1:0:0123456789abcdef", {"reply_markup": None}, False),
        ("approval:1:abc", {"reply_markup": None}, False),
    ],
)
def test_a_value_that_no_button_of_the_message_has_is_a_claim(
    data: str, message: dict[str, Any], claimed: bool
) -> None:
    update = fixture("callback_query")
    update["callback_query"]["data"] = data
    update["callback_query"]["message"] |= message
    (pressed,) = received(posted(update)).events
    assert (pressed.choice, pressed.claims_choice) == (data, claimed)
