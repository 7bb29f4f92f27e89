"""Requests that Switchboard never makes: others may reach the address of an agent."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from switchboard_sdk import Agent, Message
from switchboard_sdk.messages import BadMessage, message_of

from adapters.outbound.resources.messages import request_json
from tests.support.agents import serving_agent
from tests.support.plain_http import plain_request
from tests.support.runs import a_request

TOKEN = {"Authorization": "Bearer s3cret"}
WHOLE = request_json(a_request())
agent = Agent(token="s3cret", max_bytes=200_000)
answered: list[str] = []


@agent.message
async def answer(message: Message) -> str:
    answered.append(message.text)
    return message.text


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving_agent(agent) as base:
        yield base


@pytest.fixture(autouse=True)
def _nothing_is_answered() -> Iterator[None]:
    yield
    assert answered == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    name=st.sampled_from([*WHOLE, "form", "quoted", "thread", "approval", "context", "reaction"]), value=JSON
)
def test_any_value_of_a_field_is_read_or_refused(name: str, value: Any) -> None:
    error = ""
    try:
        assert message_of(json.dumps(WHOLE | {name: value}).encode()).raw[name] == value
    except BadMessage as refused:
        error = str(refused)
    assert not error or name in error


async def test_a_caller_that_leaves_in_the_middle_is_not_answered() -> None:
    events = iter([{"type": "http.request", "body": b'{"te', "more_body": True}, {"type": "http.disconnect"}])
    sent: list[Any] = []

    async def receive() -> Any:
        return next(events)

    async def send(event: Any) -> None:
        sent.append(event)

    headers = [(b"authorization", b"Bearer s3cret")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    await agent(scope, receive, send)
    assert sent == []


def post(address: str, body: bytes, **headers: str) -> httpx.Response:
    return plain_request("POST", f"{address}/run", content=body, headers=TOKEN | headers)


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer wrong", "Bearer s3cre\xe9t", "Basic s3cret", "s3cret"]
)
def test_a_wrong_token_is_refused(address: str, authorization: str) -> None:
    refused = plain_request(
        "POST", address, json=WHOLE, headers={"Authorization": authorization.encode("latin-1")}
    )
    assert refused.status_code == 401
    assert "Authorization: Bearer" in refused.json()["error"]
    assert "s3cret" not in refused.text


def test_other_methods_are_refused_but_a_health_check(address: str) -> None:
    assert plain_request("GET", f"{address}/healthz").json() == {"status": "ok"}
    refused = plain_request("GET", address, headers=TOKEN)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


def test_a_body_over_the_limit_is_refused(address: str) -> None:
    assert post(address, b"x" * 200_001).status_code == 413
    chunks = plain_request("POST", address, content=(b"x" * 50_000 for _ in range(5)), headers=TOKEN)
    assert chunks.status_code == 413
    assert "200000 bytes" in chunks.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe\x00",
        b'{"text": NaN}',
        b'{"text": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 30_000 + b"1" + b"}" * 30_000,
        json.dumps(WHOLE | {"context": json.loads("[" * 70 + "]" * 70)}).encode(),
    ],
    ids=["empty", "no UTF-8", "NaN", "long number", "brackets", "deep", "rather deep"],
)
def test_what_is_not_json_is_refused(address: str, body: bytes) -> None:
    refused = post(address, body)
    assert refused.status_code == 400
    assert "the request is" in refused.json()["error"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"text": None}, "text is not a string"),
        ({"text": ["x"]}, "text is not a string"),
        ({"sender": {}}, "sender.externalId is not a string"),
        ({"sender": None}, "sender is not an object"),
        ({"instanceId": True}, "instanceId is not a whole number"),
        ({"choice": "yes"}, "choice is not true or false"),
        ({"files": {}}, "files is not an array"),
        ({"files": [{"name": "a"}]}, "files[0].mimeType is not a string"),
        ({"approval": {"tool": "x"}}, "approval.confirmationId is not a string"),
        ({"approvedTools": [1]}, "approvedTools is not an array of strings"),
        ({"thread": ["x"]}, "thread[0] is not an object"),
        ({"form": {"values": []}}, "form.values is not an object"),
        ({"context": "x"}, "context is not an object"),
    ],
)
def test_a_field_of_another_type_is_named(address: str, changes: dict[str, Any], error: str) -> None:
    refused = post(address, json.dumps(WHOLE | changes).encode())
    assert (refused.status_code, refused.json()) == (400, {"error": error})
