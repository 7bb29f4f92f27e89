"""What a platform says of a message, as resources of each kind get it."""

from google.protobuf.json_format import MessageToDict

from adapters.outbound.resources.grpc_runner import run_request_to_pb
from adapters.outbound.resources.messages import request_json
from adapters.outbound.resources.model_runner import message_text
from tests.support.runs import a_request

CONTEXT = {
    "subject": "Engine\nroom",
    "to": ["ada@example.com", "bob@example.com"],
    "location": {"latitude": 51.5, "longitude": -0.1},
    "platform": {"topic": True},
}


def test_over_http_it_is_an_object() -> None:
    assert request_json(a_request(context=CONTEXT))["context"] == CONTEXT


def test_over_grpc_it_is_a_struct() -> None:
    assert MessageToDict(run_request_to_pb(a_request(context=CONTEXT)).context) == CONTEXT


def test_a_model_reads_a_line_for_each_key_before_the_message() -> None:
    assert message_text(a_request(context=CONTEXT)).split("\n") == [
        "[subject: Engine room]",
        '[to: ["ada@example.com", "bob@example.com"]]',
        '[location: {"latitude": 51.5, "longitude": -0.1}]',
        '[platform: {"topic": true}]',
        "[the message:]",
        "How late is it?",
    ]


def test_a_message_of_which_nothing_is_known_has_none() -> None:
    assert "context" not in request_json(a_request())
    assert not run_request_to_pb(a_request()).HasField("context")
    assert message_text(a_request()) == "How late is it?"
