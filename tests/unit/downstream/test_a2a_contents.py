"""Contents of files that are kept apart from the JSON of an A2A agent's answer."""

import base64
import json
from typing import Any

import pytest
from a2a.types import Message, Part, StreamResponse, Task, TaskStatus
from google.protobuf.json_format import ParseDict

from adapters.outbound.resources.a2a.contents import SMALL, Contents
from adapters.outbound.resources.messages import BadAnswer

FILE = bytes(range(256)) * 5_000


def taken_out(contents: Contents, value: dict[str, Any]) -> Any:
    return json.loads(contents.take_out(json.dumps(value).encode(), value))


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(FILE),
        base64.urlsafe_b64encode(FILE),
        base64.b64encode(FILE).rstrip(b"="),
        base64.encodebytes(FILE),
    ],
    ids=["standard", "for addresses", "without padding", "in lines"],
)
def test_a_large_file_comes_back_as_it_was(text: bytes) -> None:
    contents = Contents()
    left = taken_out(contents, {"parts": [{"raw": text.decode()}, {"text": "a" * 2 * SMALL}]})
    assert len(left["parts"][0]["raw"]) < 100
    answer = StreamResponse(message=ParseDict(left, Message()))
    contents.put_back(answer)
    assert answer.message.parts[0].raw == FILE
    assert answer.message.parts[1].text == "a" * 2 * SMALL


def test_files_come_back_wherever_they_stand() -> None:
    contents = Contents()
    part = {"raw": base64.b64encode(FILE).decode()}
    value = {
        "id": "t",
        "status": {"message": {"parts": [part]}},
        "artifacts": [{"artifactId": "a", "parts": [part]}],
        "history": [{"parts": [part]}],
    }
    task = ParseDict(taken_out(contents, json.loads(json.dumps(value))), Task())
    contents.put_back(task)
    parts = [task.status.message.parts[0], task.artifacts[0].parts[0], task.history[0].parts[0]]
    assert {part.raw for part in parts} == {FILE}
    for update in (
        {"statusUpdate": {"status": value["status"]}},
        {"artifactUpdate": {"artifact": value["artifacts"][0]}},
        {"task": value},
    ):
        answer = ParseDict(taken_out(contents, json.loads(json.dumps(update))), StreamResponse())
        contents.put_back(answer)
        assert FILE in answer.SerializeToString()


def test_values_of_the_agent_are_no_files() -> None:
    value = {"parts": [{"data": {"raw": "x" * 2 * SMALL}}], "metadata": {"bytes": "x" * 2 * SMALL}}
    assert taken_out(Contents(), json.loads(json.dumps(value))) == value


def test_an_agent_cannot_name_the_contents_of_another_file() -> None:
    contents = Contents()
    taken_out(contents, {"raw": base64.b64encode(FILE).decode()})
    answer = Task(status=TaskStatus(message=Message(parts=[Part(raw=bytes(16)), Part(text="a")])))
    contents.put_back(answer)
    assert answer.status.message.parts[0].raw == bytes(16)


@pytest.mark.parametrize("text", ["*" * 2 * SMALL, "A" * 2 * SMALL + "A", "A=" * SMALL, "é" * 2 * SMALL])
def test_what_is_not_base64_is_refused(text: str) -> None:
    with pytest.raises(BadAnswer, match="not base64"):
        taken_out(Contents(), {"raw": text})
