"""Gmail messages as events."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.mail_api.config import CONFIG
from adapters.outbound.channels.mail_api.gmail import event_of, from_base64url, message_of
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW
from domain.channels.messages import Event, Identity
from ports.capabilities import PlatformError
from tests.support.platforms.gmail import ADDRESS, CLIENT, Gmail, b64

FIXTURES = Path(__file__).parent.parent / "fixtures"


def part(mime: str, text: str = "", part_id: str = "0", **changes: Any) -> dict[str, Any]:
    body = {"data": b64(text.encode()), "size": len(text)} if text else {"size": 0}
    return {"partId": part_id, "mimeType": mime, "filename": "", "headers": [], "body": body, **changes}


def message(*parts: dict[str, Any], mime: str = "multipart/mixed") -> dict[str, Any]:
    headers = [{"name": "From", "value": "ann@client.example"}, {"name": "Subject", "value": "S"}]
    payload = {"mimeType": mime, "headers": headers, "body": {"size": 0}, "parts": list(parts)}
    return {"id": "m", "threadId": "t", "labelIds": ["INBOX"], "payload": payload}


def event(found: dict[str, Any]) -> Event:
    read = event_of(CONFIG.load(CLIENT), found, message_of(found), ADDRESS)
    return read if isinstance(read, Event) else read.event


def text(found: dict[str, Any]) -> str:
    return event(found).text


def test_a_recorded_message() -> None:
    recorded = json.loads((FIXTURES / "multipart_with_file.json").read_text())
    event = event_of(CONFIG.load(CLIENT), recorded, message_of(recorded), ADDRESS)
    assert isinstance(event, Event)
    assert (event.key, event.session_id) == ("19a9f0c1d2e3f405", "19a9f0aa00000001")
    assert event.text == "Please look at the figures."
    assert event.sender.display_name == "Ann Example"
    assert event.sender.identities == (Identity("email", "ann@client.example"),)
    assert event.target["to"] == event.correspondent == "ann@client.example"
    assert event.target["references"] == ("<first@client.example>", "<CAexample@mail.gmail.com>")
    (file,) = event.attachments
    assert (file.name, file.mime_type, file.size) == ("figures.csv", "text/csv", 8)
    assert file.source == {"messageId": "19a9f0c1d2e3f405", "partId": "1"}


def test_of_a_multipart_message_the_plain_parts_are_used() -> None:
    alternative = part(
        "multipart/alternative", parts=[part("text/plain", "one"), part("text/html", "<b>x</b>")]
    )
    assert text(message(alternative, part("text/plain", "two"))) == "one\n\ntwo"


def test_html_stands_in_for_plain_text() -> None:
    assert text(message(part("text/html", "<p>Hello <b>there</b></p>"))) == "Hello there"


def test_nothing_to_read_hands_on_the_subject() -> None:
    assert text(message(part("image/png", part_id="1", filename="p.png"))) == "S"


@pytest.mark.parametrize(
    ("data", "expected"), [("aGk", b"hi"), ("aGk=", b"hi"), ("_-8", b"\xff\xef"), ("a", b""), ("ß", b"")]
)
def test_base64url(data: str, expected: bytes) -> None:
    assert from_base64url(data) == expected


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "payload", "parts", "headers", "name", "value", "body", "data", "mimeType", "filename"]
            ),
            each,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(st.dictionaries(st.sampled_from(["id", "threadId", "labelIds", "payload"]), _JSON))
def test_no_message_breaks_the_reader(found: dict[str, Any]) -> None:
    event(found)


async def begun(channel: ChannelCalls) -> Mapping[str, Any]:
    """The cursor from which on new mail is found."""
    first = await channel.poll(CLIENT, None, NOW, NOW)
    return (await channel.poll(CLIENT, first.cursor, NOW, NOW)).cursor


async def test_a_long_text_is_fetched_apart(channel: ChannelCalls, gmail: Gmail) -> None:
    start = await begun(channel)
    gmail.attachments["long"] = b"a long text"
    gmail.arrive("m", payload={"body": {"size": 11, "attachmentId": "long"}})
    (event,) = (await channel.poll(CLIENT, start, NOW, NOW)).events
    assert (event.text, event.attachments) == ("a long text", ())


async def test_files_are_fetched_when_they_are_wanted(channel: ChannelCalls, gmail: Gmail) -> None:
    start = await begun(channel)
    gmail.attachments["ANGjd"] = b"\xff" * 100_000
    pieces = [
        part("text/plain", "see"),
        part(
            "image/png",
            part_id="1",
            filename="p.png",
            body={"size": 100_000, "attachmentId": "ANGjd"},
        ),
        part("text/plain", "inline", part_id="2", filename="i.txt"),
    ]
    gmail.arrive("m", payload={"mimeType": "multipart/mixed", "body": {"size": 0}, "parts": pieces})
    (event,) = (await channel.poll(CLIENT, start, NOW, NOW)).events
    picture, note = event.attachments
    assert b"".join([piece async for piece in channel.fetch(CLIENT, picture)]) == b"\xff" * 100_000
    assert b"".join([piece async for piece in channel.fetch(CLIENT, note)]) == b"inline"
    del gmail.mails["m"]
    with pytest.raises(PlatformError, match="cannot be fetched: Gmail answered 404"):
        [piece async for piece in channel.fetch(CLIENT, picture)]


@pytest.mark.parametrize("mime", ["text/plain", "text/html"])
def test_a_forwarded_mail_is_handed_on_whole(mime: str) -> None:
    words = "Good?\n\nFrom: X\nSent: Friday\nTo: Ann\n\nYou have won"
    found = message(part(mime, words if mime == "text/plain" else f"<pre>{words}</pre>"))
    assert text(found) == words
    found["payload"]["headers"].append({"name": "References", "value": "<1@x>"})
    assert text(found) == "Good?"
    found["payload"]["headers"][1]["value"] = "Fwd: S"
    assert text(found) == words


def test_an_answer_that_names_only_our_mail_is_of_its_thread() -> None:
    digest = "0123456789" * 4
    headers = {"From": "ann@client.example", "In-Reply-To": f"<switchboard.{digest}.{digest}@{ADDRESS}>"}
    fields = [{"name": name, "value": value.replace("agent@", "", 1)} for name, value in headers.items()]
    shown = {"id": "m", "threadId": "t", "payload": {"headers": fields}}
    assert event(shown).session_id == f"<switchboard.thread.{digest}@mail.gmail.com>"
