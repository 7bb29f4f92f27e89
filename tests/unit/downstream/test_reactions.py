"""A reaction of a person, as resources of each kind get it."""

from adapters.outbound.resources.grpc_runner import run_request_to_pb
from adapters.outbound.resources.messages import request_json
from adapters.outbound.resources.model_runner import message_text
from tests.support.runs import a_request


def test_a_reaction_has_a_field_of_its_own_and_no_text() -> None:
    request = a_request(text="", reaction="eyes")
    assert (request_json(request)["text"], request_json(request)["reaction"]) == ("", "eyes")
    assert run_request_to_pb(request).reaction == "eyes"


def test_a_message_has_no_reaction() -> None:
    assert "reaction" not in request_json(a_request())


def test_a_model_reads_a_reaction_as_a_note() -> None:
    text = message_text(a_request(text="", reaction="eyes"))
    assert text == "[the user reacted with eyes to an earlier message]"
