"""gRPC takes what REST takes, and whatever is stored crosses in messages that every client accepts."""

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import grpc
import httpx
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from switchboard.channels.v1 import callbacks_pb2 as callbacks_pb
from switchboard.channels.v1 import callbacks_pb2_grpc, instances_pb2_grpc
from switchboard.channels.v1 import instances_pb2 as pb
from switchboard.knowledge.v1 import base_files_pb2 as base_files_pb
from switchboard.knowledge.v1 import base_files_pb2_grpc, knowledge_pb2_grpc
from switchboard.knowledge.v1 import knowledge_pb2 as kb_pb
from switchboard.verification.v1 import verification_pb2 as verification_pb
from switchboard.verification.v1 import verification_pb2_grpc

from adapters.rpc import tables
from tests.drivers.ways import INSTANCES, RestOverGrpc
from tests.drivers.world import SERVICE_KEY, World

WORKER = False
SETTINGS = {"SMTP_HOST": "127.0.0.1", "SMTP_PORT": "1", "SMTP_FROM": "verify@example.com"}
HOOK = {"channelId": "http-webhook", "channelName": "Hook", "config": {"note": "n" * 30_000}}
TEXT = "\u00e4" * 9_000_000
HASH = "a" * 64


@pytest.fixture
def rest(world: World) -> Iterator[RestOverGrpc]:
    """A gateway on its own."""
    made = RestOverGrpc(world)
    yield made
    made.close()


class Client:
    """A client of the core with gRPC's own defaults, among them messages of 4 MB."""

    def __init__(self, world: World) -> None:
        self._world = world

    def call(
        self, stub: type, method: str, request: Any, user: str | None = "ann", key: str = SERVICE_KEY
    ) -> Any:
        return self._world.run(self._call(stub, method, request, user, key))

    async def _call(self, stub: type, method: str, request: Any, user: str | None, key: str) -> Any:
        metadata = [("authorization", f"Bearer {key}")] + ([("x-user-id", user)] if user else [])
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self._world.grpc.port}") as channel:
            answer = getattr(stub(channel), method)(request, metadata=metadata, timeout=60)
            return [each async for each in answer] if hasattr(answer, "__aiter__") else await answer

    def call_path(self, path: str, request: Any) -> Any:
        """Calls a unary RPC of an admin and returns the bytes of the response."""
        return self._world.run(self._call_path(path, request))

    async def _call_path(self, path: str, request: Any) -> Any:
        metadata = [("authorization", f"Bearer {SERVICE_KEY}")]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self._world.grpc.port}") as channel:
            return await channel.unary_unary(path)(request.SerializeToString(), metadata=metadata, timeout=60)


@pytest.fixture
def client(world: World) -> Client:
    return Client(world)


def refused(work: Callable[[], Any]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        work()
    return caught.value.code(), caught.value.details() or ""


@pytest.mark.parametrize("size", [1_100_000, 5_000_000])
def test_a_config_over_the_limit_is_refused(client: Client, rest: RestOverGrpc, size: int) -> None:
    config = json.dumps({"note": "n" * size})
    new = pb.CreateInstanceRequest(channel_id="http-webhook", channel_name="n", config_json=config)
    stub = instances_pb2_grpc.InstanceServiceStub
    code, words = refused(lambda: client.call(stub, "CreateInstance", new))
    assert (code, "config_json" in words) == (grpc.StatusCode.INVALID_ARGUMENT, True)
    made = rest.request("POST", INSTANCES, "ann", json=HOOK).json()["instanceId"]
    change = pb.UpdateInstanceRequest(instance_id=made, config_json=config)
    assert refused(lambda: client.call(stub, "UpdateInstance", change))[0] == code
    base = kb_pb.CreateBaseRequest(name="Handbook", manifest_json=config)
    knowledge = knowledge_pb2_grpc.KnowledgeServiceStub
    code, words = refused(lambda: client.call(knowledge, "CreateBase", base))
    assert (code, "manifest_json" in words) == (grpc.StatusCode.INVALID_ARGUMENT, True)


def test_each_list_with_a_cursor_refuses_a_limit_over_200(client: Client, rest: RestOverGrpc) -> None:
    hook = rest.request("POST", INSTANCES, "ann", json=HOOK).json()["instanceId"]
    base = rest.request("POST", "/api/agent/kb", "ann", json={"name": "Handbook"}).json()["id"]
    site = {"url": "https://example.com/"}
    source = rest.request("POST", f"/api/agent/kb/{base}/pages", "ann", json=site).json()["source"]["id"]
    target = {"name": "CRM", "url": "https://93.184.216.34/", "events": ["message.received"]}
    made = rest.request("POST", "/api/agent/event-subscriptions", "ann", json=target).json()
    subscription = made["subscription"]["id"]
    owned = {
        "instance_id": hook,
        "knowledge_base_id": base,
        "source_id": source,
        "subscription_id": subscription,
        "session_id": "1",
    }
    lists = [
        (service, method)
        for service in tables.SERVICES
        for method in service.descriptor.methods
        if {"limit", "cursor"} <= set(method.input_type.fields_by_name)
    ]
    assert len(lists) >= 12
    for service, method in lists:
        for limit in (-1, 201):
            request = GetMessageClass(method.input_type)(limit=limit)
            for name in method.input_type.fields_by_name.keys() & owned.keys():
                setattr(request, name, owned[name])
            code, details = refused(partial(client.call_path, service.path(method.name), request))
            assert (code, "limit" in details) == (grpc.StatusCode.INVALID_ARGUMENT, True), method.name


def test_a_thousand_instances_with_large_configs_are_listed(
    world: World, client: Client, rest: RestOverGrpc
) -> None:
    assert rest.request("POST", INSTANCES, "ann", json=HOOK).status_code == 201
    world.run(
        world.container.database().execute(
            "INSERT INTO channel_instance (user_id, channel_id, channel_name, config)"
            " SELECT user_id, channel_id, channel_name || n, config FROM channel_instance,"
            " generate_series(2, 1000) n"
        )
    )
    listed = rest.request("GET", INSTANCES, "ann").json()
    assert len({each["id"] for each in listed}) == len(listed) == 1000
    assert [each["id"] for each in listed] == sorted(each["id"] for each in listed)
    assert all(each["config"] == HOOK["config"] for each in listed)

    token, found = "", []
    while True:
        request = pb.ListInstancesRequest(page_token=token)
        page = client.call(instances_pb2_grpc.InstanceServiceStub, "ListInstances", request)
        assert page.ByteSize() < 4 * 1024 * 1024
        found += [each.id for each in page.instances]
        token = page.next_page_token
        if not token:
            break
    assert found == [each["id"] for each in listed]


def test_a_single_instance_that_is_larger_than_a_page_is_listed(world: World, rest: RestOverGrpc) -> None:
    for name in ("a", "b", "c"):
        body = {**HOOK, "channelName": name, "config": {"note": "\u00e4" * 500_000}}
        assert rest.request("POST", INSTANCES, "ann", json=body).status_code == 201
    listed = rest.request("GET", INSTANCES, "ann").json()
    assert [each["channelName"] for each in listed] == ["a", "b", "c"]
    assert all(len(each["config"]["note"]) == 500_000 for each in listed)


def test_files_with_texts_beyond_any_message_are_read(
    world: World, client: Client, rest: RestOverGrpc
) -> None:
    base = rest.request("POST", "/api/agent/kb", "ann", json={"name": "Handbook"}).json()["id"]
    for number in range(2):
        world.run(
            world.container.database().execute(
                "INSERT INTO kb_file (kb_id, file_name, blob_key, file_hash, size, mime_type, text, uploaded_by,"
                " status) VALUES (%s, %s, 'x', %s, 1, 'text/plain', %s, 'ann', 'ready')",
                (base, f"{number}.txt", HASH[:-1] + str(number), TEXT if number else ""),
            )
        )
    files = rest.request("GET", f"/api/agent/kb/{base}/files", "ann").json()["files"]
    assert [
        (file["file_name"], file["text"] == text) for file, text in zip(files, ("", TEXT), strict=True)
    ] == [
        ("0.txt", True),
        ("1.txt", True),
    ]
    large = files[1]["fileHash"]
    file = rest.request("GET", f"/api/agent/kb/file/{large}", "ann").json()["file"]
    assert {**file, "queuePosition": None} == files[1]

    stub = knowledge_pb2_grpc.KnowledgeServiceStub
    code, words = refused(lambda: client.call(stub, "GetFile", kb_pb.GetFileRequest(file_hash=large)))
    assert (code, "StreamFile" in words) == (grpc.StatusCode.RESOURCE_EXHAUSTED, True)
    parts = client.call(stub, "StreamFile", kb_pb.GetFileRequest(file_hash=large))
    assert "".join(part.file.text + part.more_text for part in parts) == TEXT


def test_chunks_beyond_a_message_are_listed(world: World, rest: RestOverGrpc) -> None:
    """Chunks have up to 100,000 characters, and a page of them up to 1000 chunks."""
    base = rest.request("POST", "/api/agent/kb", "ann", json={"name": "Handbook"}).json()["id"]
    world.run(
        world.container.database().execute(
            "WITH file AS (INSERT INTO kb_file (kb_id, file_name, blob_key, file_hash, size, mime_type, uploaded_by,"
            " status, chunk_count) VALUES (%(base)s, 'a.txt', 'x', %(hash)s, 1, 'text/plain', 'ann', 'ready', 200)"
            " RETURNING id) INSERT INTO chunk (kb_id, seq, file_id, position, chunk_id, text, context)"
            " SELECT %(base)s, n, file.id, n, '1-' || n, repeat('\u00e4', 100000), ''"
            " FROM file, generate_series(0, 199) n",
            {"base": base, "hash": HASH},
        )
    )
    page = rest.request("GET", f"/api/agent/kb/chunks/{HASH}?limit=1000&offset=3", "ann").json()
    assert [each["chunkId"] for each in page["chunks"]] == [f"1-{number}" for number in range(3, 200)]
    assert (page["pagination"]["totalCount"], page["pagination"]["limit"]) == (200, 1000)


def test_bases_and_permissions_beyond_a_message_are_listed(world: World, rest: RestOverGrpc) -> None:
    base = rest.request(
        "POST", "/api/agent/kb", "ann", json={"name": "Handbook", "description": "\u00e4" * 10_000}
    ).json()["id"]
    database = world.container.database()
    world.run(
        database.execute(
            "WITH made AS (INSERT INTO knowledge_base (name, description, manifest, created_by) SELECT name,"
            " description, manifest, created_by FROM knowledge_base, generate_series(1, 999) RETURNING id)"
            " INSERT INTO kb_permission (kb_id, user_id, level) SELECT id, 'ann', 3 FROM made"
        )
    )
    assert len(rest.request("GET", "/api/agent/kb", "ann").json()["knowledgeBases"]) == 1000
    world.run(
        database.execute(
            "INSERT INTO kb_permission (kb_id, user_id, level)"
            " SELECT %s, repeat('\u00e4', 195) || n, 1 FROM generate_series(1, 20000) n",
            (base,),
        )
    )
    found = rest.request("GET", f"/api/agent/kb/{base}/permissions", "ann").json()["permissions"]
    assert len({each["userId"] for each in found}) == len(found) == 20_001


def test_many_large_callbacks_at_once_cross_to_the_core(world: World, rest: RestOverGrpc) -> None:
    made = rest.request("POST", INSTANCES, "ann", json={**HOOK, "config": {}}).json()["instanceId"]
    path = f"/api/agent/channels/http-webhook/{made}/webhook"
    body = json.dumps({"message": "m" * 1_000_000}).encode()

    async def all_at_once() -> list[httpx.Response]:
        return await asyncio.gather(*(rest.client.post(path, content=body) for _ in range(30)))

    assert [each.status_code for each in world.run(all_at_once())] == [200] * 30


def test_a_callback_over_the_limit_is_refused_by_the_core_too(client: Client, rest: RestOverGrpc) -> None:
    made = rest.request("POST", INSTANCES, "ann", json={**HOOK, "config": {}}).json()["instanceId"]
    body = json.dumps({"message": "m" * 1_048_576}).encode()
    call = callbacks_pb.RawCall(channel_id="http-webhook", instance_id=made, callback="webhook", body=body)
    stub = callbacks_pb2_grpc.CallbackServiceStub
    code, words = refused(lambda: client.call(stub, "HandleCallback", call))
    assert (code, words) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "the body is over 1024 KB")


@pytest.mark.parametrize("token", ["x", "-1", "9" * 40, "n" * 10_240])
def test_a_page_token_of_nobody_is_refused(client: Client, token: str) -> None:
    for stub, method, request in (
        (instances_pb2_grpc.InstanceServiceStub, "ListInstances", pb.ListInstancesRequest(page_token=token)),
        (knowledge_pb2_grpc.KnowledgeServiceStub, "ListBases", kb_pb.ListBasesRequest(page_token=token)),
    ):
        code, words = refused(lambda: client.call(stub, method, request))  # noqa: B023
        assert (code, "page_token" in words) == (grpc.StatusCode.INVALID_ARGUMENT, True)


REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.FAILED_PRECONDITION,
}
SERVICES = (
    (instances_pb2_grpc.InstanceServiceStub, pb.DESCRIPTOR.services_by_name["InstanceService"], pb),
    (knowledge_pb2_grpc.KnowledgeServiceStub, kb_pb.DESCRIPTOR.services_by_name["KnowledgeService"], kb_pb),
    (
        base_files_pb2_grpc.BaseFileServiceStub,
        base_files_pb.DESCRIPTOR.services_by_name["BaseFileService"],
        base_files_pb,
    ),
    (
        verification_pb2_grpc.VerificationServiceStub,
        verification_pb.DESCRIPTOR.services_by_name["VerificationService"],
        verification_pb,
    ),
)
GOOD: dict[str, Any] = {
    "channel_id": "http-webhook",
    "channel_name": "Hook",
    "config_json": "{}",
    "name": "Handbook",
    "user_id": "bob",
    "permission_level": 1,
    "query": "pump",
    "email": "ann@example.com",
    "otp": "123456",
}
HARMLESS = {"BotWebhook", "CompleteOAuth", "ListProviders"}
"""Open calls, whose fields are no texts of ours: the first needs a proof, the second says how it ended."""


@pytest.mark.parametrize("value", ["x" * 200_000, "a\0b", 2**31 - 1, -1, 2**63 - 1, -(2**63)], ids=str)
def test_no_field_of_a_message_is_a_fault_of_the_server(
    world: World, client: Client, rest: RestOverGrpc, value: str | int
) -> None:
    instance = rest.request("POST", INSTANCES, "ann", json=HOOK).json()["instanceId"]
    base = rest.request("POST", "/api/agent/kb", "ann", json={"name": "Handbook"}).json()["id"]
    ids = {"instance_id": instance, "id": base, "knowledge_base_id": base}
    tried = 0
    for stub, service, module in SERVICES:
        for method in service.methods:
            if method.client_streaming or method.name in HARMLESS:
                continue
            for field in method.input_type.fields:
                if not _takes(field, value):
                    continue
                request = getattr(module, method.input_type.name)()
                for each in method.input_type.fields:
                    if each.name in {**GOOD, **ids} and not (
                        method.name == "CreateInstance" and each.name == "id"
                    ):
                        setattr(request, each.name, {**GOOD, **ids}[each.name])
                setattr(request, field.name, value)
                tried += 1
                code = status_of(lambda: client.call(stub, method.name, request))  # noqa: B023
                harmless = isinstance(value, int) or method.name.startswith("List")
                assert code in (REFUSALS | {grpc.StatusCode.OK} if harmless else REFUSALS), (
                    method.name,
                    field.name,
                    code,
                )
    assert tried > 8


def status_of(work: Callable[[], Any]) -> grpc.StatusCode:
    try:
        work()
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def _takes(field: Any, value: str | int) -> bool:
    if isinstance(value, str):
        return bool(field.type == FieldDescriptor.TYPE_STRING)
    if field.type == FieldDescriptor.TYPE_INT32:
        return -(2**31) <= value < 2**31
    return bool(field.type == FieldDescriptor.TYPE_INT64)


CREATING: tuple[tuple[type, str, Any], ...] = (
    (instances_pb2_grpc.InstanceServiceStub, "ListInstances", pb.ListInstancesRequest()),
    (
        instances_pb2_grpc.InstanceServiceStub,
        "CreateInstance",
        pb.CreateInstanceRequest(channel_id="http-webhook", channel_name="n", config_json="{}"),
    ),
    (knowledge_pb2_grpc.KnowledgeServiceStub, "CreateBase", kb_pb.CreateBaseRequest(name="Handbook")),
    (
        verification_pb2_grpc.VerificationServiceStub,
        "ListIdentities",
        verification_pb.ListIdentitiesRequest(),
    ),
    (
        verification_pb2_grpc.VerificationServiceStub,
        "StartEmail",
        verification_pb.StartEmailRequest(email="a@b.example"),
    ),
    (
        verification_pb2_grpc.VerificationServiceStub,
        "StartOAuth",
        verification_pb.StartOAuthRequest(provider="gaming-chat"),
    ),
)


@pytest.mark.parametrize(("stub", "method", "request_message"), CREATING, ids=[each[1] for each in CREATING])
def test_a_service_names_the_user_for_whom_it_acts(
    client: Client, stub: type, method: str, request_message: Any
) -> None:
    code, words = refused(lambda: client.call(stub, method, request_message, user=None))
    assert (code, "x-user-id" in words) == (grpc.StatusCode.INVALID_ARGUMENT, True)
