"""What was said before a message, as resources of each kind get it."""

from datetime import UTC, datetime

from adapters.outbound.resources.grpc_runner import run_request_to_pb
from adapters.outbound.resources.messages import request_json
from adapters.outbound.resources.model_runner import message_text
from adapters.rpc.messages import from_us
from domain.channels.messages import ThreadMessage
from domain.routing.model import QuotedMessage, RunRequest
from tests.support.runs import A_FILE, a_request

AT = datetime(2026, 11, 20, 12, 0, 0, 5000, tzinfo=UTC)


def in_context() -> RunRequest:
    return a_request(
        quoted=QuotedMessage("The engine\nis hot.", "Bob", (A_FILE,)),
        thread=(ThreadMessage("Look at this", "Ada", AT), ThreadMessage("It is hot.", "resource", AT)),
    )


def test_over_http_they_have_the_documented_names() -> None:
    body = request_json(in_context())
    file = {"name": "a.png", "mimeType": "image/png", "size": 3, "url": A_FILE.url}
    assert body["quoted"] == {"text": "The engine\nis hot.", "author": "Bob", "files": [file]}
    assert body["thread"] == [
        {"text": "Look at this", "author": "Ada", "at": "2026-11-20T12:00:00.005Z"},
        {"text": "It is hot.", "author": "resource", "at": "2026-11-20T12:00:00.005Z"},
    ]


def test_without_them_the_fields_are_left_out() -> None:
    assert {"quoted", "thread"}.isdisjoint(request_json(a_request()))
    message = run_request_to_pb(a_request())
    assert not message.HasField("quoted")
    assert list(message.thread) == []


def test_over_grpc_they_are_messages_of_their_own() -> None:
    message = run_request_to_pb(in_context())
    assert (message.quoted.text, message.quoted.author) == ("The engine\nis hot.", "Bob")
    assert [file.url for file in message.quoted.files] == [A_FILE.url]
    assert [(earlier.text, earlier.author) for earlier in message.thread] == [
        ("Look at this", "Ada"),
        ("It is hot.", "resource"),
    ]
    assert [from_us(earlier.at_us) for earlier in message.thread] == [AT, AT]


def test_a_model_reads_them_before_the_message_each_line_marked() -> None:
    assert message_text(in_context()).split("\n") == [
        "[earlier messages of this thread, which you have not seen:]",
        "> Ada at 2026-11-20T12:00:00.005Z:",
        "> Look at this",
        "> resource at 2026-11-20T12:00:00.005Z:",
        "> It is hot.",
        "[the message replies to this one of Bob:]",
        "> The engine",
        "> is hot.",
        f"[file: a.png (image/png, 3 bytes): {A_FILE.url}]",
        "[the message:]",
        "How late is it?",
    ]


def test_a_model_reads_the_message_alone_where_nothing_was_said_before() -> None:
    assert message_text(a_request()) == "How late is it?"
