"""Notifications as Meta posts them, and as it never would."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.business_messaging import webhook
from adapters.outbound.channels.business_messaging.config import CONFIG as MODEL
from adapters.outbound.channels.tests.calls import receiver
from adapters.outbound.channels.tests.support import NOW, call
from domain.channels.context import bounded
from domain.channels.messages import (
    Attachment,
    DeliveryStatus,
    Event,
    Identity,
    RawAnswer,
    RawCall,
    Received,
    SessionAlias,
    SessionRename,
)
from domain.refusals import Forbidden, Invalid, NotFound, Unauthenticated
from tests.support.hostile import JSON, places, replaced
from tests.support.platforms.whatsapp import NUMBER_ID

from .samples import CONFIG, FIXTURES, challenge, fixture, notification, posted, signed, tampered

receive = receiver(webhook, MODEL)


def received(given: RawCall) -> Received:
    return receive(CONFIG, given)


def event(name: str) -> Event:
    (found,) = received(notification(name)).events
    return found


def test_the_challenge_is_answered_to_the_byte() -> None:
    found = received(challenge())
    assert found.answer.status == 200
    assert found.answer.body == b"1158201444"
    assert found.answer.headers["content-type"].startswith("text/plain")
    assert (found.kind, found.events, found.missing_proof_field) == ("challenge", (), None)


@pytest.mark.parametrize(
    "changed",
    [{"hub_verify_token": "other"}, {"hub_verify_token": ""}, {"hub_mode": "unsubscribe"}, {"hub_mode": ""}],
)
def test_a_challenge_with_a_wrong_word_is_forbidden(changed: dict[str, str]) -> None:
    with pytest.raises(Forbidden):
        received(challenge(**changed))


def test_without_a_word_of_ones_own_no_challenge_is_answered() -> None:
    with pytest.raises(Forbidden):
        receive(CONFIG | {"webhookVerifyToken": ""}, challenge(hub_verify_token=""))


@pytest.mark.parametrize("forged", tampered())
def test_a_forged_notification_is_refused(forged: RawCall) -> None:
    with pytest.raises(Unauthenticated):
        received(forged)


def test_without_app_secret_the_call_is_taken_as_unproved() -> None:
    config = {name: value for name, value in CONFIG.items() if name != "appSecret"}
    found = receive(config, call(as_json=fixture("text")))
    assert found.missing_proof_field == "appSecret"
    assert len(found.events) == 1


def test_other_callbacks_do_not_exist() -> None:
    with pytest.raises(NotFound):
        received(call(callback="other"))


@pytest.mark.parametrize("body", [b"", b"[]", b"{"])
def test_a_body_that_is_no_object_is_invalid(body: bytes) -> None:
    with pytest.raises(Invalid):
        received(signed(body))


def test_a_text() -> None:
    found = received(notification("text"))
    assert found.answer == RawAnswer(200, b"")
    assert found.missing_proof_field is None
    asked = found.events[0]
    assert asked.text == "When does the engine stop?"
    assert asked.key == "wamid.HBgM0001"
    assert asked.session_id == "441632960001"
    assert (asked.sender.external_id, asked.sender.display_name) == ("441632960001", "Ada Byron")
    assert asked.sender.identities == (
        Identity("business-messaging", "441632960001"),
        Identity("phone", "441632960001"),
    )
    assert asked.target == {"to": "441632960001", "message_id": "wamid.HBgM0001"}


def test_a_sender_without_a_number_is_known_by_the_scoped_id() -> None:
    asked = event("text_scoped")
    assert asked.session_id == "GB.A1b2C3"
    assert asked.sender.identities == (Identity("business-messaging", "GB.A1b2C3"),)
    assert asked.sender.display_name == "Ada"
    assert asked.target == {"recipient": "GB.A1b2C3", "message_id": "wamid.scoped"}


def test_a_sender_with_both_is_known_by_both() -> None:
    body = fixture("text")
    body["entry"][0]["changes"][0]["value"]["messages"][0]["from_user_id"] = "GB.A1b2C3"
    (asked,) = received(posted(body)).events
    assert asked.session_id == "441632960001"
    assert [each.value for each in asked.sender.identities] == [
        "441632960001",
        "441632960001",
        "GB.A1b2C3",
    ]


def test_a_message_of_a_group_belongs_to_the_group() -> None:
    asked = event("text_in_group")
    assert (asked.session_id, asked.is_direct) == ("120363000000000001", False)
    assert asked.sender.external_id == "441632960001"
    assert asked.target == {"group": "120363000000000001", "message_id": "wamid.HBgM0042"}
    assert asked.context["group"] == {"id": "120363000000000001"}


def test_the_ad_that_a_person_came_from() -> None:
    referral = event("text_from_ad").context["referral"]
    told = {"sourceId": "ad1", "sourceType": "ad", "headline": "Summer sale", "ctwaClid": "abc"}
    assert isinstance(referral, dict)
    assert told.items() <= referral.items()


def test_the_values_of_a_form_and_the_line_below_a_row() -> None:
    body = fixture("list_reply")
    assert bounded(event("list_reply").context)["platform"] == {"description": "in an hour"}
    message = body["entry"][0]["changes"][0]["value"]["messages"][0]
    answer = {"name": "flow", "body": "Sent", "response_json": '{"size": "L"}'}
    message["interactive"] = {"type": "nfm_reply", "nfm_reply": answer}
    (asked,) = received(posted(body)).events
    assert bounded(asked.context) == {"payload": '{"size": "L"}', "platform": {"form": "flow"}}


def test_a_contact_has_its_mail_addresses() -> None:
    body = fixture("contacts")
    [contact] = body["entry"][0]["changes"][0]["value"]["messages"][0]["contacts"]
    contact["emails"] = [{"email": "charles@example.org", "type": "WORK"}, {"type": "HOME"}]
    (asked,) = received(posted(body)).events
    assert asked.text == "Contact: Charles B +44 1632 960002 charles@example.org"
    assert asked.context["contact"] == {
        "name": "Charles B",
        "phones": ["+44 1632 960002"],
        "emails": ["charles@example.org"],
    }


@pytest.mark.parametrize("timestamp", ["", "soon", "-1", "9" * 400, "1e9", None, {}])
def test_a_time_that_is_none_is_no_time(timestamp: Any) -> None:
    body = fixture("text")
    body["entry"][0]["changes"][0]["value"]["messages"][0]["timestamp"] = timestamp
    assert received(posted(body)).events[0].written_at is None


def test_both_ids_of_a_person_are_remembered() -> None:
    assert received(notification("text_both_ids")).session_aliases == (
        SessionAlias("GB.A1b2C3", "441632960001"),
    )
    assert received(notification("text")).session_aliases == ()
    assert received(notification("text_scoped")).session_aliases == ()
    assert (event("text_scoped").alias, event("text_both_ids").alias) == ("GB.A1b2C3", "")


def test_every_message_of_a_notification_is_taken_but_those_to_other_numbers() -> None:
    assert [each.text for each in received(notification("several")).events] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("name", "text", "choice"),
    [
        ("button_reply", "Approve", "c:1:approve"),
        ("list_reply", "Later", "row2"),
        ("template_button", "Stop it", "STOP"),
        ("location", "Location: Works, Mill Lane 1 (51.5014, -0.1419)", None),
        ("contacts", "Contact: Charles B +44 1632 960002", None),
    ],
)
def test_what_is_put_in_words(name: str, text: str, choice: str | None) -> None:
    asked = event(name)
    assert (asked.text, asked.choice) == (text, choice)


@pytest.mark.parametrize(
    ("name", "text", "file"),
    [
        ("image", "Which part?", Attachment("image.jpg", "image/jpeg", {"media_id": "M1"})),
        ("document", "", Attachment("plan.pdf", "application/pdf", {"media_id": "M2"})),
        ("audio", "", Attachment("audio.oga", "audio/ogg", {"media_id": "M3"})),
    ],
)
def test_media(name: str, text: str, file: Attachment) -> None:
    asked = event(name)
    assert asked.text == text
    (found,) = asked.attachments
    assert (found.mime_type, found.source) == (file.mime_type, file.source)
    assert found.name.partition(".")[0] == file.name.partition(".")[0]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("reaction", "ignored:kind"),
        ("account_update", "ignored:other"),
    ],
)
def test_what_is_not_answered(name: str, kind: str) -> None:
    assert received(notification(name)) == Received(kind=kind)


@pytest.mark.parametrize("kind", ["poll", "event", "a kind of next year"])
def test_who_sends_a_kind_that_cannot_be_read_is_told_so(kind: str) -> None:
    body = fixture("unsupported")
    body["entry"][0]["changes"][0]["value"]["messages"][0]["type"] = kind
    (asked,) = received(posted(body)).events
    assert asked.canned_reply is not None
    assert asked.canned_reply.startswith("I cannot read")


def test_a_group_is_not_told_what_cannot_be_read() -> None:
    """Its people speak to each other; WhatsApp knows no mention of the bot."""
    body = fixture("unsupported")
    body["entry"][0]["changes"][0]["value"]["messages"][0]["group_id"] = "120363000000000001"
    assert received(posted(body)) == Received(kind="ignored:kind")


@pytest.mark.parametrize("wanted", [True, False])
def test_a_reaction_is_told_with_the_message_that_it_is_to(wanted: bool) -> None:
    config = MODEL.load({**CONFIG, "reactions": wanted})
    events = webhook.receive(config, notification("reaction"), {}, NOW).events
    assert [event.reacts_to for event in events] == (["wamid.x"] if wanted else [])


@pytest.mark.parametrize("kind", ["text", "interactive", "system", "request_welcome", "edit", "revoke"])
def test_what_says_nothing_is_ignored_without_a_notice(kind: str) -> None:
    body = fixture("unsupported")
    body["entry"][0]["changes"][0]["value"]["messages"][0]["type"] = kind
    assert received(posted(body)).events == ()


def changed(**value: Any) -> RawCall:
    body = fixture("system")
    body["entry"][0]["changes"][0] = {
        "field": "user_id_update",
        "value": {"metadata": {"phone_number_id": NUMBER_ID}, **value},
    }
    return posted(body)


IDS = {"previous": "GB.A1b2C3", "current": "GB.Z9y8X7"}


@pytest.mark.parametrize(
    ("call", "moves"),
    [
        (notification("system"), (SessionRename("441632960001", "441632960009"),)),
        (notification("user_changed_user_id"), (SessionRename("GB.A1b2C3", "GB.Z9y8X7"),)),
        (changed(user_id_update=[{"user_id": IDS}]), (SessionRename("GB.A1b2C3", "GB.Z9y8X7"),)),
        (changed(user_id_update=IDS), (SessionRename("GB.A1b2C3", "GB.Z9y8X7"),)),
        (changed(user_id_update=[{"wa_id": "441632960001", "user_id": IDS}]), ()),
        (changed(user_id_update=[{"user_id": {"previous": "GB.A", "current": "GB.A"}}]), ()),
        (changed(user_id_update=[{"user_id": {"current": "GB.A"}}, 7, None]), ()),
    ],
)
def test_a_person_with_another_number_or_id_moves(call: RawCall, moves: tuple[SessionRename, ...]) -> None:
    found = received(call)
    assert found.session_renames == moves
    assert found.events == ()
    assert (found.kind == "rename") == bool(moves)


def test_a_status_bears_the_key_of_its_message() -> None:
    body = fixture("status_delivered")
    body["entry"][0]["changes"][0]["value"]["statuses"][0]["biz_opaque_callback_data"] = "key-1"
    (status,) = received(posted(body)).delivery_statuses
    assert status.key == "key-1"


def test_what_the_business_itself_wrote_is_not_answered() -> None:
    body = fixture("text")
    body["entry"][0]["changes"][0]["value"]["messages"][0]["from"] = "16505550111"
    assert received(posted(body)).kind == "ignored:own"


WINDOW_IS_CLOSED = (
    "131047 More than 24 hours have passed since the person last wrote: WhatsApp takes only a template now."
)


@pytest.mark.parametrize("state", ["delivered", "read"])
def test_statuses_are_read(state: str) -> None:
    found = received(notification(f"status_{state}"))
    assert found.delivery_statuses == (DeliveryStatus("wamid.out1", state),)
    assert (found.events, found.kind) == ((), "status")


def test_a_failed_status_says_why() -> None:
    (status,) = received(notification("status_failed")).delivery_statuses
    assert status.failed
    assert status.detail == WINDOW_IS_CLOSED


@pytest.mark.parametrize(
    ("code", "of_recipient"), [(131026, True), (131050, True), (131047, False), (190, False)]
)
def test_a_failed_status_says_whether_it_concerns_the_person_alone(code: int, of_recipient: bool) -> None:
    body = fixture("status_failed")
    body["entry"][0]["changes"][0]["value"]["statuses"][0]["errors"] = [{"code": code, "title": "no"}]
    assert received(posted(body)).delivery_statuses[0].of_recipient is of_recipient


@given(st.sampled_from(sorted(path.stem for path in FIXTURES.glob("*.json"))), st.data())
def test_wrong_types_anywhere_never_crash(name: str, data: st.DataObject) -> None:
    body: Any = fixture(name)
    changed = replaced(body, data.draw(st.sampled_from(places(body))), data.draw(JSON))
    for each in received(posted(changed)).events:
        json.dumps(each.target)
        assert isinstance(each.session_id, str)
        assert isinstance(each.text, str)
