"""What the routes of messages take: hostile bodies, large ones, and the same over gRPC."""

import base64
import json
from typing import Any

import grpc
import pytest
from switchboard.channels.v1 import messages_pb2 as pb
from switchboard.channels.v1 import messages_pb2_grpc

from adapters.inbound.rest.auth_middleware import MESSAGE_BODY
from domain.json_text import MOST_VALUES
from tests.drivers.receiver import Receiver
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import SERVICE_KEY, World

JSON = {"content-type": "application/json"}
MB = 1024 * 1024


@pytest.fixture
def path(rest: Rest) -> str:
    """The address of the messages of ann's webhook."""
    new = {"channelId": "http-webhook", "channelName": "Hook", "config": {}}
    return f"{INSTANCES}/{rest.create('ann', new).body['instanceId']}/messages"


def status_and_error(rest: Rest, path: str, content: bytes, user: str = "ann") -> tuple[int, str]:
    response = rest.request("POST", path, user, content=content, headers=JSON)
    return response.status_code, response.json().get("error", "")


@pytest.mark.grpc
def test_files_of_ten_megabytes_are_taken(rest: Rest, path: str, receiver: Receiver) -> None:
    data = base64.b64encode(b"x" * (10 * MB)).decode()
    body = {"to": receiver.url, "files": [{"name": "a.bin", "dataBase64": data}]}
    assert rest.request("POST", path, "ann", json=body).status_code == 202
    [delivery] = receiver.wait_for(1)
    [file] = delivery.json["artifacts"]
    assert (file["name"], file["mimeType"]) == ("a.bin", "application/octet-stream")
    assert len(rest.request("GET", file["url"].partition("3011")[2]).content) == 10 * MB


def test_a_larger_body_is_refused(rest: Rest, path: str) -> None:
    status, error = status_and_error(rest, path, b'{"text": "' + b"x" * MESSAGE_BODY + b'"}')
    assert (status, str(MESSAGE_BODY // 1024) in error) == (413, True), error


def test_the_body_of_somebody_who_may_not_send_is_not_looked_at(rest: Rest, path: str) -> None:
    assert status_and_error(rest, path, b"{" * MB, "bob")[0] == 403


@pytest.mark.parametrize("value", [b"{}", b"[]", b"1", b"[[[[]]]]"])
def test_a_body_of_too_many_values_is_refused(rest: Rest, path: str, value: bytes) -> None:
    content = b'{"text": "Hello", "other": [' + b",".join([value] * (MOST_VALUES + 1)) + b"]}"
    status, error = status_and_error(rest, path, content)
    assert (status, str(MOST_VALUES) in error) == (400, True), error


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", "5"),
        ("text", '"\\u0000"'),
        ("text", '"\\ud800"'),
        ("to", 'null, "sessionId": ""'),
        ("to", '"https://a.example/\\u202e"'),
        ("to", '"javascript:alert(1)"'),
        ("to", '"http://169.254.169.254/latest/meta-data"'),
        ("to", '"http://[fe80::1]/"'),
        ("files", "{}"),
        ("files", "[5]"),
        ("files[0].dataBase64", '[{"name": "a", "dataBase64": "not base64"}]'),
        ("files[0].dataBase64", '[{"name": "a", "dataBase64": "\\u00e4"}]'),
        ("files[0].dataBase64", '[{"name": "a", "dataBase64": 5}]'),
        ("files[0].dataBase64", '[{"name": "a", "dataBase64": ""}]'),
        ("files[0].url", '[{"name": "a", "url": 5}]'),
        ("files[0].url", '[{"name": "a", "url": "gopher://a.example"}]'),
        ("files[0].name", '[{"name": "a\\nb", "url": "https://a.example"}]'),
        ("choices", '"yes"'),
        ("choices[0].label", '[{"value": "yes"}]'),
        ("template", "[]"),
        ("template.name", '{"language": "en"}'),
        ("template.parameters[0]", '{"name": "a", "language": "en", "parameters": [5]}'),
    ],
)
def test_a_field_that_is_wrong_is_named(rest: Rest, path: str, field: str, value: str) -> None:
    name = field.partition(".")[0].partition("[")[0]
    given = {"text": '"Hello"', "to": '"https://a.example"', name: value}
    content = ", ".join(f'"{key}": {each}' for key, each in given.items())
    status, error = status_and_error(rest, path, f"{{{content}}}".encode())
    named = "sessionId" if "sessionId" in value else field
    assert status == 400, error
    assert named in error, error
    assert len(error) < 1000


@pytest.mark.parametrize(
    "message_id", ["1", "send-", "send-0", "send-01", "in--1", "send-" + "9" * 30, "%00", "send-\u0661"]
)
def test_an_id_that_is_none_is_not_found(rest: Rest, path: str, message_id: str) -> None:
    assert rest.request("GET", f"{path}/{message_id}", "ann").status_code == 404


def send_over_grpc(world: World, request: pb.SendMessageRequest, user: str = "ann") -> Any:
    async def call() -> Any:
        metadata = [("authorization", f"Bearer {SERVICE_KEY}"), ("x-user-id", user)]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{world.grpc.port}") as channel:
            stub = messages_pb2_grpc.MessageServiceStub(channel)
            return await stub.SendMessage(request, metadata=metadata, timeout=60)

    return world.run(call())


def test_grpc_sends_and_refuses_alike(world: World, rest: Rest, path: str, receiver: Receiver) -> None:
    instance = int(path.split("/")[-2])
    request = pb.SendMessageRequest(
        instance_id=instance,
        to=receiver.url,
        text="Hello",
        files=[pb.FileToSend(name="a.bin", data=b"x" * MB)],
        idempotency_key="k1",
    )
    first = send_over_grpc(world, request)
    assert send_over_grpc(world, request) == first
    [delivery] = receiver.wait_for(1)
    assert (delivery.json["response"], delivery.json["sessionId"]) == ("Hello", first.session_id)
    assert rest.request("GET", f"{path}/{first.message_id}", "ann").json()["text"] == "Hello"
    wrong = {
        "bob": (request, grpc.StatusCode.PERMISSION_DENIED),
        "ann": (
            pb.SendMessageRequest(instance_id=instance, to="a\nb", text="Hello"),
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
    }
    for user, (asked, code) in wrong.items():
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            send_over_grpc(world, asked, user)
        assert refused.value.code() == code


def test_a_message_without_text_or_files_says_what_is_missing(rest: Rest, path: str) -> None:
    status, error = status_and_error(rest, path, json.dumps({"to": "https://a.example"}).encode())
    assert (status, error) == (400, "text: is required, unless there are files or a template")
