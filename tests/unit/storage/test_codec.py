"""Events survive their way into the database and back."""

from dataclasses import fields, replace
from datetime import UTC, datetime

import orjson
import pytest

from adapters.outbound.storage.codec import (
    event_from_json,
    event_to_json,
    open_form_to_json,
    stored_open_form,
)
from domain.channels.context import MAX_BYTES
from domain.channels.messages import (
    LONGEST_QUOTED,
    Attachment,
    Change,
    Event,
    Identity,
    Merge,
    Quoted,
    Sender,
)
from domain.channels.rich import FieldType, Form, FormField
from domain.conversations.forms import OpenForm

PICTURE = Attachment("engine.png", "image/png", {"file_id": "f1"}, 12)
FULL = Event(
    key="k",
    session_id="s",
    sender=Sender("1", "Ada", (Identity("phone", "+49"),)),
    text="Is it?",
    target={"chat": 1},
    attachments=(PICTURE,),
    choice="c:1",
    claims_choice=True,
    canned_reply="Hello",
    awaits_reply=True,
    request_id="r",
    is_direct=False,
    unreadable="broken",
    merge=Merge("m", 3),
    ids=("1", "2"),
    ids_of_session=True,
    automated=True,
    correspondent="ada@example.com",
    separate_session_id="s:ada@example.com",
    only_decides=True,
    quoted=Quoted("It is hot.", "Bob", (PICTURE,), "ref", "key", "session"),
    thread_post="17",
    reaction="eyes",
    reacted_ref="1800000000.000001",
    message_id="m1",
    change=Change.EDITED,
    refused="channel",
    written_at=datetime(2026, 11, 20, 12, tzinfo=UTC),
    context={"language": "en", "group": {"id": "7", "name": "Engine room"}},
    form_input={"0": "3", "1": ["s"], "2": True},
    trace="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    raw={"a": 1},
)


def test_each_field_comes_back() -> None:
    assert event_from_json(event_to_json(FULL, "r")) == FULL


def test_each_field_that_is_stored_is_tested() -> None:
    empty = Event(None, "", Sender(""), "", {})
    unset = {field.name for field in fields(Event) if getattr(FULL, field.name) == getattr(empty, field.name)}
    assert unset == {
        "only_followed",
        "new_if_answered",
        "alias",
        "reacts_to",
    }  # decided before the event is stored


def test_a_long_quoted_text_is_cut() -> None:
    long = replace(FULL, quoted=Quoted("x" * 100_000, "Bob"))
    assert event_from_json(event_to_json(long, "r")).quoted == Quoted("x" * LONGEST_QUOTED, "Bob")


def test_a_long_context_is_bounded() -> None:
    long = replace(FULL, context={"platform": ["x" * 1000] * 1000, "language": "en"})
    context = event_from_json(event_to_json(long, "r")).context
    assert len(orjson.dumps(context)) <= MAX_BYTES
    assert context["language"] == "en"


def test_an_event_of_an_older_version_has_nothing_quoted() -> None:
    old = b'{"session": "s", "sender": "1", "text": "t", "target": {}, "request": "r"}'
    event = event_from_json(old)
    assert (event.quoted, event.thread_post, event.context) == (None, "", {})


def test_what_a_newer_version_adds_is_left_out() -> None:
    """Its processes work beside those of this one, on the same rows."""
    document = orjson.loads(event_to_json(FULL, "r"))
    document["added"] = document["quoted"]["added"] = "x"
    for stored in (*document["files"], *document["quoted"]["attachments"]):
        stored += [True, "added"]
    for stored in (*document["identities"], document["merge"]):
        stored.append("added")
    voice = (replace(PICTURE, is_voice=True),)
    quoted = replace(FULL.quoted, attachments=voice) if FULL.quoted else None

    assert event_from_json(orjson.dumps(document)) == replace(FULL, attachments=voice, quoted=quoted)


def test_an_open_form_comes_back() -> None:
    form = Form("Order", (FormField("count", "How many?", FieldType.NUMBER, default=3.5, max=9),), "order")
    at = datetime(2026, 11, 20, 12, tzinfo=UTC)
    opened = OpenForm(
        form, "form:in-7:abc", "U\udc80ada", 7, at, {"size": ["s"], "ok": True}, 1, 2, is_native=True
    )
    assert stored_open_form(open_form_to_json(opened)) == replace(opened, asked_of="U\ufffdada")


@pytest.mark.parametrize("stored", ["", "{}", '{"form": 3}', '{"form": {"title": "x"}}'])
def test_a_form_that_cannot_be_read_is_none(stored: str) -> None:
    assert stored_open_form(stored) is None
