"""The JSON exchanged with resources."""

import base64
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.resources.messages import MAX_ARTIFACT_BYTES, BadAnswer, request_json, result_of
from domain.channels.answers import Choice
from domain.channels.model import Proof
from domain.routing.model import Approval, Confirmation, ResultArtifact, RunResult, RunSender, Usage
from tests.support.runs import A_FILE, a_request


def test_a_request_has_the_documented_names() -> None:
    request = a_request(
        sender=RunSender("4711", "Ada", "user-9", Proof.PLATFORM),
        files=(A_FILE,),
        approval=Approval("c1", "send_mail", "approved_for_session"),
        approved_tools=("search",),
    )

    assert request_json(request) == {
        "resource": {"kind": "agent", "id": "helper", "expertIndex": 1},
        "requestId": "3f2b8c1e-0000-4000-8000-000000000001",
        "instanceId": 7,
        "channelId": "bot-messenger",
        "sessionId": "4711",
        "sender": {"externalId": "4711", "displayName": "Ada", "userId": "user-9", "verifiedBy": "platform"},
        "text": "How late is it?",
        "files": [
            {
                "name": "a.png",
                "mimeType": "image/png",
                "size": 3,
                "url": "http://127.0.0.1:3011/files/a?sig=1",
            }
        ],
        "approval": {"confirmationId": "c1", "tool": "send_mail", "decision": "approved_for_session"},
        "approvedTools": ["search"],
    }


def test_what_is_absent_is_null_or_left_out() -> None:
    body = request_json(a_request("workflow::w"))

    assert body["resource"] == {"kind": "workflow", "id": "w", "expertIndex": None}
    assert body["sender"]["userId"] is None
    assert "approval" not in body
    assert body["files"] == []
    assert body["approvedTools"] == []


def test_the_owner_is_not_told() -> None:
    assert "owner-1" not in str(request_json(a_request()))


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({"text": "It is noon."}, RunResult("It is noon.")),
        ({"text": ""}, RunResult("")),
        ({"text": "a", "artifacts": None, "confirmation": None}, RunResult("a")),
        ({"text": "a", "unknown": [1]}, RunResult("a")),
        (
            {"text": "a", "artifacts": [{"name": "b.txt", "mimeType": "text/plain", "dataBase64": "aGk="}]},
            RunResult("a", (ResultArtifact("b.txt", "text/plain", data=b"hi"),)),
        ),
        (
            {"artifacts": [{"name": "b.txt", "url": "https://x.example/b?sig=1"}]},
            RunResult(
                "", (ResultArtifact("b.txt", "application/octet-stream", url="https://x.example/b?sig=1"),)
            ),
        ),
        (
            {"text": "May I?", "confirmation": {"tool": "send_mail", "parameters": {"to": "x"}}},
            RunResult("May I?", confirmation=Confirmation("send_mail", {"to": "x"})),
        ),
        ({"confirmation": {"tool": "reset"}}, RunResult("", confirmation=Confirmation("reset", {}))),
        (
            {"text": "Which?", "choices": [{"label": "Small", "value": "s"}, {"label": "Large"}]},
            RunResult("Which?", choices=(Choice("Small", "s"), Choice("Large", ""))),
        ),
        ({"choices": [{"label": "Yes"}]}, RunResult("", choices=(Choice("Yes", ""),))),
        ({"text": "a", "choices": None}, RunResult("a")),
        (
            {"text": "a", "usage": {"inputTokens": 9, "outputTokens": 0}},
            RunResult("a", usage=Usage(9, 0)),
        ),
        ({"text": "a", "usage": {"prompt_tokens": 9}}, RunResult("a")),
        ({"text": "a", "usage": {"inputTokens": -1, "outputTokens": 4}}, RunResult("a")),
        ({"text": "a", "usage": {"inputTokens": True, "outputTokens": 4}}, RunResult("a")),
        ({"text": "a", "usage": "much"}, RunResult("a")),
    ],
)
def test_an_answer_is_read(answer: Any, result: RunResult) -> None:
    assert result_of(answer) == result


ARTIFACT = {"name": "b.txt", "mimeType": "text/plain", "dataBase64": "aGk="}


def with_artifact(**changes: Any) -> dict[str, Any]:
    artifact = {name: value for name, value in (ARTIFACT | changes).items() if value is not ...}
    return {"text": "a", "artifacts": [artifact]}


def nested(levels: int) -> dict[str, Any]:
    """An object in an object, and so on."""
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (None, "not a JSON object"),
        ([], "not a JSON object"),
        ("text", "not a JSON object"),
        ({}, "has no text"),
        ({"answer": "a"}, "has no text"),
        ({"text": 7}, "text is not a string"),
        ({"text": ["a"]}, "text is not a string"),
        ({"text": "x" * 1_000_001}, "text has over"),
        ({"text": "a", "choices": {}}, "choices is not an array"),
        ({"text": "a", "choices": ["b"]}, r"choices\[0\] is not an object"),
        ({"text": "a", "choices": [{"value": "b"}]}, r"choices\[0\]\.label is not a string"),
        ({"text": "a", "choices": [{"label": " "}]}, r"choices\[0\]\.label must be one line"),
        ({"text": "a", "choices": [{"label": "a\nb"}]}, r"choices\[0\]\.label must be one line"),
        ({"text": "a", "choices": [{"label": "x" * 201}]}, r"choices\[0\]\.label must be at most 200"),
        ({"text": "a", "choices": [{"label": "a\0"}]}, r"choices\[0\]\.label must not contain a NUL"),
        (
            {"text": "a", "choices": [{"label": "a"}] * 2},
            r"choices\[1\]\.label must not be the label of another",
        ),
        ({"text": "a", "choices": [{"label": "a", "value": 7}]}, r"choices\[0\]\.value is not a string"),
        (
            {"text": "a", "choices": [{"label": "a", "value": "x" * 2001}]},
            r"choices\[0\]\.value must be at most 2000",
        ),
        ({"text": "a", "choices": [{"label": str(n)} for n in range(26)]}, "choices must be at most 25"),
        ({"text": "a", "artifacts": {}}, "artifacts is not an array"),
        ({"text": "a", "artifacts": ["b"]}, r"artifacts\[0\] is not an object"),
        ({"text": "a", "artifacts": [ARTIFACT] * 21}, "artifacts has over 20"),
        (with_artifact(name=...), r"artifacts\[0\]\.name is not a string"),
        (with_artifact(name=" "), r"artifacts\[0\]\.name is not the name"),
        (with_artifact(name="a\nb"), r"artifacts\[0\]\.name is not the name"),
        (with_artifact(name="x" * 256), r"artifacts\[0\]\.name is not the name"),
        (with_artifact(mimeType=7), r"artifacts\[0\]\.mimeType is not a string"),
        (with_artifact(mimeType="a\r\nb"), r"artifacts\[0\]\.mimeType is not a media type"),
        (with_artifact(dataBase64=...), "either url or dataBase64"),
        (with_artifact(url="https://x.example/"), "either url or dataBase64"),
        (with_artifact(dataBase64="a*b="), "dataBase64 is not base64"),
        (with_artifact(dataBase64="abc"), "dataBase64 is not base64"),
        (with_artifact(dataBase64="aGk=\n"), "dataBase64 is not base64"),
        (with_artifact(dataBase64="ä"), "dataBase64 is not base64"),
        (
            with_artifact(dataBase64=...)
            | {"artifacts": [ARTIFACT | {"dataBase64": None, "url": "file:///etc"}]},
            "url",
        ),
        (with_artifact(dataBase64=None, url="https://"), "url is not an http"),
        (with_artifact(dataBase64=None, url="https://[x"), "url is not an http"),
        (with_artifact(dataBase64=None, url="javascript:alert(1)"), "url is not an http"),
        ({"text": "a", "confirmation": "x"}, "confirmation is not an object"),
        ({"text": "a", "confirmation": {}}, "confirmation.tool is not a string"),
        ({"text": "a", "confirmation": {"tool": " "}}, "confirmation.tool is not the name"),
        ({"text": "a", "confirmation": {"tool": "t", "parameters": [1]}}, "parameters is not an object"),
    ],
)
def test_an_answer_that_breaks_the_contract_names_its_fault(answer: Any, what: str) -> None:
    with pytest.raises(BadAnswer, match=what):
        result_of(answer)


def test_parameters_within_the_depth_are_kept() -> None:
    asked = result_of({"confirmation": {"tool": "t", "parameters": nested(62)}}).confirmation

    assert asked is not None
    assert asked.parameters == nested(62)


def test_the_bytes_of_all_artifacts_are_bounded_together() -> None:
    half = base64.b64encode(b"\0" * (MAX_ARTIFACT_BYTES // 2 + 1)).decode()
    answer = {"text": "a", "artifacts": [ARTIFACT | {"dataBase64": half}, ARTIFACT | {"dataBase64": half}]}

    with pytest.raises(BadAnswer, match="give an url"):
        result_of(answer)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "artifacts", "confirmation", "name", "url", "dataBase64", "tool"]), inner
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_no_answer_breaks_the_reader(value: Any) -> None:
    with suppress(BadAnswer):
        assert isinstance(result_of(value), RunResult)
