"""The steps of gateway.feature: here, and only here, paths and status codes are the words."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import SERVICE_KEY, World

WORKER = False
scenarios("gateway.feature")

NEW = {
    "channelId": "http-webhook",
    "channelName": "Hook",
    "config": {},
    "downStreamResourceId": "agent::echo",
}


@pytest.fixture
def made() -> dict[str, int]:
    return {}


@given("ann has an http-webhook")
def has_webhook(rest: Rest, made: dict[str, int]) -> None:
    made["id"] = rest.create("ann", NEW).body["instanceId"]


@given("ann's key is revoked")
def revoked(world: World) -> None:
    token = world.key_of("ann")
    key = world.run(world.container.access().find_key(token))
    assert key is not None
    world.run(world.container.access().revoke_key(key.id))


@when(parsers.re(r"(?P<method>[A-Z]+) (?P<path>\S+) is requested without a key"), target_fixture="response")
def without_key(rest: Rest, method: str, path: str) -> httpx.Response:
    return rest.request(method, path)


@when(parsers.parse("{path} is requested without a key, as an operator"), target_fixture="response")
def as_operator(rest: Rest, path: str) -> httpx.Response:
    return rest.request("GET", path)


@when(
    parsers.parse('the instances are requested with the authorization "{value}"'), target_fixture="response"
)
def with_authorization(rest: Rest, value: str) -> httpx.Response:
    return rest.request("GET", INSTANCES, headers={"authorization": value})


@given("ann has a knowledge base")
def has_base(rest: Rest, made: dict[str, int]) -> None:
    made["base"] = rest.request("POST", "/api/agent/kb", "ann", json={"name": "Handbook"}).json()["id"]


@when(
    parsers.re(r"(?P<method>[A-Z]+) (?P<path>\S+) is sent with the service key alone and (?P<body>.*)"),
    target_fixture="response",
)
def with_service_key(rest: Rest, made: dict[str, int], method: str, path: str, body: str) -> httpx.Response:
    path = path.replace("{instance}", str(made.get("id"))).replace("{base}", str(made.get("base")))
    headers = {"authorization": f"Bearer {SERVICE_KEY}"}
    sent = {} if body == "nothing" else {"json": json.loads(body)}
    return rest.request(method, path, headers=headers, **sent)


@then("nothing belongs to the service")
def service_owns_nothing(world: World) -> None:
    database = world.container.database()
    for table, owner in (("channel_instance", "user_id"), ("knowledge_base", "created_by")):
        assert world.run(database.fetch(f"SELECT {owner} FROM {table}")) == []


@when(
    parsers.re(r"an instance is made with the service key for (?P<user>a user.*)"), target_fixture="response"
)
def with_service_key_for(rest: Rest, user: str) -> httpx.Response:
    return _made_for(rest, b"u" * (201 if "201" in user else 200))


@when(parsers.parse('an instance is made with the service key for "{user}"'), target_fixture="response")
def with_service_key_for_named(rest: Rest, user: str) -> httpx.Response:
    return _made_for(rest, user.encode())


def _made_for(rest: Rest, user: bytes) -> httpx.Response:
    headers = {b"authorization": f"Bearer {SERVICE_KEY}".encode(), b"x-user-id": user}
    return rest.request("POST", INSTANCES, headers=headers, json=NEW)


@then(parsers.parse('it belongs to "{user}"'))
def belongs(rest: Rest, response: httpx.Response, user: str) -> None:
    found = rest.request("GET", f"{INSTANCES}/{response.json()['instanceId']}", user)
    assert found.json()["userId"] == user


@then('"database", "queue" and "migrations" were looked at')
def looked_at(response: httpx.Response) -> None:
    assert (
        dict.fromkeys(("database", "queue", "migrations"), "ok").items() <= response.json()["checks"].items()
    )


@when("/healthz is asked for by HEAD", target_fixture="response")
def asked_by_head(rest: Rest) -> httpx.Response:
    return rest.request("HEAD", "/healthz")


@then(parsers.parse('the header "{name}" is "{value}"'))
def header_is(response: httpx.Response, name: str, value: str) -> None:
    assert response.headers[name] == value


@given("ann has a community-chat instance")
def has_chat(rest: Rest, made: dict[str, int]) -> None:
    config = {"SERVER_URL": "http://127.0.0.1:1", "channelId": "c", "token": "t"}
    body = {**NEW, "channelId": "community-chat", "config": config}
    made["id"] = rest.create("ann", body).body["instanceId"]


@when("it is called with a form that breaks off")
def called_broken(world: World, rest: Rest, made: dict[str, int]) -> None:
    messages = [
        {"type": "http.request", "body": b"token=t&user_id=u&text=pay+100", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: Any) -> None:
        raise AssertionError(f"nobody is there to be told {message}")

    path = f"/api/agent/channels/community-chat/{made['id']}/webhook"
    headers = [(b"content-type", b"application/x-www-form-urlencoded")]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    world.run(rest.app(scope, receive, send))


@then("nothing is stored")
def nothing_stored(world: World) -> None:
    assert world.run(world.container.database().fetch_one("SELECT count(*) FROM inbox")) == (0,)


@when('it is called with "{"', target_fixture="response")
def called_refused(rest: Rest, made: dict[str, int], caplog: pytest.LogCaptureFixture) -> httpx.Response:
    caplog.set_level("INFO", "adapters.inbound.rest.callbacks")
    return rest.request("POST", f"/api/agent/channels/http-webhook/{made['id']}/webhook", content=b"{")


@then("the answer has a request id, and the log tells of the refusal")
def log_tells(response: httpx.Response, made: dict[str, int], caplog: pytest.LogCaptureFixture) -> None:
    assert response.headers["x-request-id"]
    [line] = [each.getMessage() for each in caplog.records if "refused" in each.getMessage()]
    assert f"/http-webhook/{made['id']}/webhook" in line
    assert response.json()["error"] in line


@when("it is called with a slash at the end of its address", target_fixture="response")
def called_with_slash(rest: Rest, made: dict[str, int]) -> httpx.Response:
    return rest.request(
        "POST", f"/api/agent/channels/http-webhook/{made['id']}/webhook/", json={"message": "m"}
    )


@when(
    parsers.re(r"(?P<who>ann|nobody) sends (?P<method>[A-Z]+) (?P<path>\S+), and the log is read"),
    target_fixture="response",
)
def sends_and_reads_log(
    rest: Rest, who: str, method: str, path: str, caplog: pytest.LogCaptureFixture
) -> httpx.Response:
    caplog.set_level("INFO")
    return rest.request(method, path, "ann" if who == "ann" else None)


@then(parsers.parse('the log tells of "{told}" and a status, and holds no "{secret}"'))
def log_holds_no(response: httpx.Response, told: str, secret: str, caplog: pytest.LogCaptureFixture) -> None:
    ours = [each.getMessage() for each in caplog.records if not each.name.startswith("httpx")]
    assert f"{response.request.method} {told} {response.status_code}" in ours
    assert secret not in "\n".join(ours)


@then("the page refers to this host alone")
def refers_to_this_host(response: httpx.Response) -> None:
    assert re.findall(r"(?:https?:)?//[^\s\"']+", _without_comments(response.text)) == []
    assert '"validatorUrl": null' in response.text


@then("what the page refers to is there")
def page_is_whole(rest: Rest, response: httpx.Response) -> None:
    addresses = re.findall(r"""(?:src=|href=|url: )["'](/[^"']+)""", response.text)
    found = {address: rest.request("GET", address) for address in addresses}
    assert {address: each.headers["content-type"].partition(";")[0] for address, each in found.items()} == {
        "/docs/swagger-ui.css": "text/css",
        "/docs/swagger-ui-bundle.js": "text/javascript",
        "/openapi.json": "application/json",
    }
    assert all(each.status_code == 200 and len(each.content) > 10_000 for each in found.values())


def _without_comments(page: str) -> str:
    return re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)


@when("ann's instances are requested", target_fixture="response")
def anns_instances(rest: Rest) -> httpx.Response:
    return rest.request("GET", INSTANCES, "ann")


@when(parsers.re(r"ann sends (?P<method>[A-Z]+) (?P<path>\S+) with (?P<body>.*)"), target_fixture="response")
def sends(rest: Rest, method: str, path: str, body: str) -> httpx.Response:
    if body == "nothing":
        return rest.request(method, path, "ann")
    headers = {"content-type": "application/json"}
    return rest.request(method, path, "ann", content=body.encode(), headers=headers)


@when("ann creates an instance with a body of 3 MB", target_fixture="response")
def creates_large(rest: Rest) -> httpx.Response:
    return rest.request("POST", INSTANCES, "ann", json={**NEW, "config": {"x": "y" * 3_000_000}})


@when(
    parsers.parse("ann creates an instance with a body nested {levels:d} levels deep"),
    target_fixture="response",
)
def creates_nested(rest: Rest, levels: int) -> httpx.Response:
    headers = {"Content-Type": "application/json"}
    content = b"[" * levels + b"]" * levels
    return rest.request("POST", INSTANCES, "ann", content=content, headers=headers)


@when(
    parsers.parse("ann creates an instance with a number of {digits:d} digits in {place}"),
    target_fixture="response",
)
def creates_with_number(rest: Rest, digits: int, place: str) -> httpx.Response:
    value = '{"a": 9}' if place == "config" else "9"
    content = json.dumps({**NEW, place: None}).replace("null", value.replace("9", "9" * digits))
    headers = {"Content-Type": "application/json"}
    return rest.request("POST", INSTANCES, "ann", content=content.encode(), headers=headers)


@when("ann creates an instance with a name of 100 kB", target_fixture="response")
def creates_long(rest: Rest) -> httpx.Response:
    return rest.request("POST", INSTANCES, "ann", json={**NEW, "channelName": "n" * 100_000})


@when("it is called with a body of 3 MB", target_fixture="response")
def called_large(rest: Rest, made: dict[str, int]) -> httpx.Response:
    path = f"/api/agent/channels/http-webhook/{made['id']}/webhook"
    return rest.request("POST", path, content=json.dumps({"message": "m" * 3_000_000}).encode())


@when("it is called with a session id of 100 kB", target_fixture="response")
def called_long_session(rest: Rest, made: dict[str, int]) -> httpx.Response:
    path = f"/api/agent/channels/http-webhook/{made['id']}/webhook"
    return rest.request("POST", path, json={"message": "m", "sessionId": "s" * 100_000})


@when("ann creates an instance by the old path", target_fixture="response")
def creates_old(rest: Rest) -> httpx.Response:
    return rest.request("POST", "/api/agent/channels", "ann", json=NEW)


@when("ann deletes it by the old path", target_fixture="response")
def deletes_old(rest: Rest, response: httpx.Response, made: dict[str, int]) -> httpx.Response:
    made["id"] = response.json()["instanceId"]
    return rest.request("DELETE", f"/api/agent/channels/instance/{made['id']}", "ann")


@when("ann requests the status of connections", target_fixture="response")
def requests_status(rest: Rest) -> httpx.Response:
    return rest.request("GET", "/api/agent/channels/status", "ann")


@then(parsers.parse("the status is {status:d}"))
def status_is(response: httpx.Response, status: int) -> None:
    assert response.status_code == status, response.text


@then(parsers.parse("the body is {body}"), converters={"body": str})
def body_is(response: httpx.Response, body: str) -> None:
    if not body.startswith("an error"):
        assert response.json() == json.loads(body)
        return
    word = re.search(r'"(.*)"', body)
    assert word is not None
    assert set(response.json()) == {"error"}
    assert word[1] in response.json()["error"]
    assert "Traceback" not in response.text


@then("ann has no instances")
def no_instances(rest: Rest) -> None:
    assert rest.instances("ann").body == []


@then("the body names the instance as text")
def names_instance(response: httpx.Response, made: dict[str, int]) -> None:
    assert response.json()["instanceId"] == str(made["id"])
    assert response.json()["success"] is True


@then("the body has success, no connected channels and a timestamp")
def has_status(response: httpx.Response) -> None:
    body = response.json()
    assert body["success"] is True
    assert body["connectedChannels"] == {}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["timestamp"])


DOCUMENTED = (
    ("get", "/api/agent/channels"),
    ("post", "/api/agent/channels"),
    ("get", "/api/agent/channels/{type}"),
    ("get", "/api/agent/channels/status"),
    ("get", "/api/agent/channel-instances"),
    ("post", "/api/agent/channel-instances"),
    ("get", "/api/agent/channel-instances/{instanceId}"),
    ("put", "/api/agent/channel-instances/{instanceId}"),
    ("delete", "/api/agent/channel-instances/{instanceId}"),
    ("delete", "/api/agent/channels/instance/{instanceId}"),
    ("post", "/api/agent/channel-instances/{instanceId}/request-pairing"),
    ("post", "/api/agent/channels/{type}/{instanceId}/{callback}"),
    ("get", "/api/agent/channel-instances/{instanceId}/health"),
    ("get", "/api/agent/channel-instances/{instanceId}/deliveries"),
    ("post", "/api/agent/channel-instances/{instanceId}/deliveries/{deliveryId}/replay"),
    ("delete", "/api/agent/channel-instances/{instanceId}/deliveries/{deliveryId}"),
    ("get", "/api/agent/verification/providers"),
    ("get", "/api/agent/verification/identities"),
    ("delete", "/api/agent/verification/identities/{field}/{value}"),
    ("post", "/api/agent/verification/start-bot-messenger"),
    ("post", "/api/agent/verification/bot-messenger-bot-webhook"),
    ("post", "/api/agent/verification/bot-messenger-callback"),
    ("post", "/api/agent/verification/start-email"),
    ("post", "/api/agent/verification/verify-email"),
    ("post", "/api/agent/verification/start-workspace-chat"),
    ("post", "/api/agent/verification/start-gaming-chat"),
    ("post", "/api/agent/verification/start-community-chat"),
    ("get", "/api/agent/verification/callback/{provider}"),
    ("get", "/api/agent/kb"),
    ("post", "/api/agent/kb"),
    ("get", "/api/agent/kb/{id}"),
    ("put", "/api/agent/kb/{id}"),
    ("delete", "/api/agent/kb/{id}"),
    ("get", "/api/agent/kb/{id}/permissions"),
    ("put", "/api/agent/kb/{id}/permissions"),
    ("post", "/api/agent/kb/{id}/uploadfile"),
    ("get", "/api/agent/kb/{id}/files"),
    ("get", "/api/agent/kb/download/{fileId}"),
    ("get", "/api/agent/kb/file/{id}"),
    ("post", "/api/agent/kb/{id}/search"),
    ("get", "/api/agent/kb/chunk/{id}"),
    ("get", "/api/agent/kb/chunks/{id}"),
    ("get", "/healthz"),
    ("get", "/readyz"),
    ("get", "/metrics"),
)


@then("each documented path is in it")
def documented(response: httpx.Response) -> None:
    paths: dict[str, Any] = response.json()["paths"]
    for method, path in DOCUMENTED:
        assert method in paths[path], (method, path)
        success = [code for code in paths[path][method]["responses"] if code.startswith("2")]
        assert success


@then("no answer with 422 stands where 400 is given")
def no_422(response: httpx.Response) -> None:
    for path, operations in response.json()["paths"].items():
        for operation in operations.values():
            assert "422" not in operation["responses"] or "uploadfile" in path


@then("every error answer has the error shape")
def error_shape(response: httpx.Response) -> None:
    for path, operations in response.json()["paths"].items():
        if "/verification/callback/" in path:
            continue  # a page for a browser
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if status.startswith(("4", "5")) and "content" in answer:
                    assert "ErrorBody" in json.dumps(answer["content"]) or status in ("502", "504", "503")


@pytest.fixture
def read() -> list[str]:
    return []


@when(
    parsers.re(
        r"(?P<user>\w+) begins to send (?P<method>[A-Z]+) (?P<path>\S+), announcing (?P<size>\d+) bytes"
    ),
    target_fixture="response",
)
def begins_to_send(
    rest: Rest, made: dict[str, int], read: list[str], user: str, method: str, path: str, size: str
) -> httpx.Response:
    async def body() -> AsyncIterator[bytes]:
        read.append("read")
        yield b"{"

    headers = {"content-type": "application/json", "content-length": size}
    path = path.format(instance=made["id"], base=made["base"])
    who = None if user == "nobody" else user
    return rest.request(method, path, who, content=body(), headers=headers)


@then("no byte of the body was read")
def nothing_read(read: list[str]) -> None:
    assert read == []
