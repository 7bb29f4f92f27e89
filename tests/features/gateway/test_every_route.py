"""Rules for every route, as the OpenAPI document has them: a new route is covered by itself."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import grpc
import httpx
import jsonschema
import pytest

from adapters.inbound.grpc.interceptors import OPEN_METHODS, OPEN_SERVICES
from adapters.rpc.tables import SERVICES
from domain.access.model import Role
from tests.drivers.ways import Rest
from tests.drivers.world import World

WORKER = False
KB, KEYS = "/api/agent/kb", "/api/agent/keys"
STREAMS = ("/api/agent/events", "/api/agent/web-chat/{publicId}/stream")
"""They go on when all is well; what refuses them is an answer like others."""


@pytest.fixture
def document(rest: Rest) -> dict[str, Any]:
    return dict(rest.request("GET", "/openapi.json").json())


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def filled(path: str) -> str:
    """The path with values that name nothing."""
    return re.sub(r"\{\w+\}", "4711", path)


@pytest.mark.grpc
def test_no_answer_of_the_api_is_kept_or_read_as_another_type(
    world: World, rest: Rest, document: dict[str, Any]
) -> None:
    """Whoever asks, right or wrong, also where there is no such route."""
    admin = {"authorization": f"Bearer {world.key_of('admin', Role.ADMIN)}"}
    wrong = []
    for method, path, _ in operations(document):
        if not path.startswith("/api/agent/"):
            continue
        for headers in ({}, admin, {**admin, "content-type": "application/json"}):
            if path in STREAMS and headers:
                headers = {**headers, "last-event-id": "x"}
            for name in (method, "OPTIONS", "HEAD"):
                body = {"content": b"{}"} if name not in ("GET", "HEAD", "OPTIONS") else {}
                answer = rest.request(name, filled(path), headers=headers, params={"after": "x"}, **body)
                wrong += faults(f"{name} {path} {answer.status_code}", answer)
    for path in ("/api/agent", "/api/agent/nothing", "/api/agent/channels/x/y/z/", "/mcp"):
        wrong += faults(path, rest.request("POST", path, headers=admin))
    assert wrong == []


def faults(where: str, answer: httpx.Response) -> Iterator[str]:
    if answer.status_code >= 500:
        yield f"{where}: {answer.text[:100]}"
    if "no-store" not in answer.headers.get("cache-control", ""):
        yield f"{where}: {answer.headers.get('cache-control')}"
    if answer.headers.get_list("x-content-type-options") != ["nosniff"]:
        yield f"{where}: may be read as another type"
    if answer.status_code == 204 and {"content-type", "content-length"} & set(answer.headers):
        yield f"{where}: speaks of a body that it has not"


def test_the_token_of_a_session_is_an_api_key_nowhere(
    world: World, rest: Rest, document: dict[str, Any]
) -> None:
    sessions = world.container.use_cases().sessions
    session = world.run(sessions.sign_in(world.key_of("admin", Role.ADMIN), "127.0.0.1"))
    headers = {"authorization": f"Bearer {session.token}"}
    closed = [(method, path) for method, path, operation in operations(document) if operation["security"]]
    assert len(closed) > 50
    statuses = {
        (method, path): rest.request(method, filled(path), headers=headers).status_code
        for method, path in [*closed, ("POST", "/mcp")]
    }
    assert {where: status for where, status in statuses.items() if status != 401} == {}


@pytest.mark.parametrize(
    "path", ["/healthz", "/docs", "/openapi.json", "/console", "/console/keys", "/mcp", KB]
)
def test_a_path_with_a_line_end_is_another_one(rest: Rest, path: str) -> None:
    for target in (f"{path}%0a", f"{path}%0a/"):
        assert rest.request("GET", target, "admin").status_code == 404, target


@pytest.mark.grpc
def test_an_answer_without_content_says_nothing_of_content(rest: Rest, document: dict[str, Any]) -> None:
    """Every operation that has such an answer is declared without one, and those that need little are tried."""
    for method, path, operation in operations(document):
        assert "content" not in operation["responses"].get("204", {}), (method, path)
    base = rest.request("POST", KB, "ann", json={"name": "Handbook"}).json()["id"]
    key = rest.request("POST", KEYS, "ann", json={}).json()["key"]["id"]
    body = {"userId": "bob", "permission_level": 1}
    answers = [
        rest.request("PUT", f"{KB}/{base}/permissions", "ann", json=body),
        rest.request("PUT", f"{KB}/{base}", "ann", json={"name": "Manual"}),
        rest.request("DELETE", f"{KB}/{base}", "ann"),
        rest.request("DELETE", f"{KEYS}/{key}", "ann"),
    ]
    for answer in answers:
        assert answer.status_code == 204, answer.text
        assert list(faults(str(answer.url), answer)) == []
        assert answer.content == b""


def test_a_list_with_chosen_fields_matches_its_schema(rest: Rest, document: dict[str, Any]) -> None:
    """Every subset of one or two fields, and all of them."""
    base = rest.request("POST", KB, "ann", json={"name": "Handbook"}).json()["id"]
    operation = document["paths"][KB + "/{id}/files"]["get"]
    [names] = [
        each["schema"]["items"]["enum"] for each in operation["parameters"] if each["name"] == "fields"
    ]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    files = {"file": ("a.txt", b"The pump is serviced in March.")}
    sent = rest.request(
        "POST", f"{KB}/{base}/uploadfile", "ann", files=files, headers={"prefer": "respond-async"}
    )
    assert sent.status_code == 202, sent.text
    for size in (1, 2, len(names)):
        for fields in itertools.combinations(names, size):
            query = {"fields": ",".join(fields)}
            answer = rest.request("GET", f"{KB}/{base}/files", "ann", params=query).json()
            jsonschema.validate(answer, {**schema, "components": document["components"]})
            [record] = answer["files"]
            assert set(record) == set(fields)


def test_the_token_of_a_session_is_an_api_key_for_no_method_of_grpc(world: World) -> None:
    """The core ends a call that it refuses before it reads a message, so that all are called alike."""
    sessions = world.container.use_cases().sessions
    session = world.run(sessions.sign_in(world.key_of("admin", Role.ADMIN), "127.0.0.1"))
    paths = [service.path(name) for service in SERVICES for name in service.descriptor.methods_by_name]
    closed = [path for path in paths if not (path.startswith(OPEN_SERVICES) or path in OPEN_METHODS)]
    assert len(closed) > 50

    async def called() -> dict[str, grpc.StatusCode]:
        codes = {}
        async with grpc.aio.insecure_channel(f"127.0.0.1:{world.grpc.port}") as channel:
            for path in closed:
                call: Any = channel.stream_stream(path)(
                    iter(()), metadata=(("authorization", f"Bearer {session.token}"),), timeout=60
                )
                codes[path] = await call.code()
        return codes

    codes = world.run(called())
    assert {path for path, code in codes.items() if code is not grpc.StatusCode.UNAUTHENTICATED} == set()
