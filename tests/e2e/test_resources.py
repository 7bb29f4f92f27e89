"""Resources from RESOURCES_FILE and DOWNSTREAM_URL, seen from the outside of a running service."""

import json
import re
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from tests.support.servers import serving
from tests.support.service import Service, one_line, run_once
from tests.support.waiting import until

pytestmark = pytest.mark.processes

RULE = """
[[rule]]
match = "workflow::*"
kind = "http"
url = "{url}"
token_env = "RUNNER_TOKEN"
"""

Ask = Callable[[str, str], Awaitable[str]]


async def describing(request: web.Request) -> web.Response:
    """Says how it was asked."""
    body = await request.json()
    how = {
        "path": request.path,
        "authorization": request.headers.get("Authorization"),
        "resource": body["resource"],
        "text": body["text"],
        "channel": body["channelId"],
    }
    return web.json_response({"text": json.dumps(how)})


def asking(client: httpx.AsyncClient) -> Ask:
    """Makes an instance that answers in the call, once per resource id, and asks it."""
    instances: dict[str, int] = {}

    async def ask(resource: str, text: str) -> str:
        if resource not in instances:
            new = {
                "channelId": "http-webhook",
                "channelName": f"for {resource}",
                "config": {"syncResponse": True},
                "downStreamResourceId": resource,
            }
            created = await client.post("/api/agent/channel-instances", json=new)
            assert created.status_code == 201, created.text
            instances[resource] = created.json()["instanceId"]
        address = f"/api/agent/channels/http-webhook/{instances[resource]}/webhook"
        answer = await client.post(address, json={"message": text})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["response"])

    return ask


def client_of(service: Service) -> httpx.AsyncClient:
    """A client of the address that the service says it has."""
    found = re.search(r"REST gateway\s+(http://\S+)", service.output)
    assert found
    headers = {"Authorization": f"Bearer {service.key}"}
    return httpx.AsyncClient(base_url=found[1], headers=headers, timeout=60, trust_env=False)


async def test_messages_go_where_the_rules_send_them(open_folder: Path) -> None:
    rules = open_folder / "resources.toml"
    async with serving(describing) as base:
        rules.write_text(RULE.format(url=f"{base}/old"), "utf-8")
        settings = {
            "RESOURCES_FILE": str(rules),
            "RUNNER_TOKEN": "s3cret",
            "DOWNSTREAM_URL": f"{base}/default/",
        }
        with Service(open_folder / "data", settings=settings) as service:
            async with client_of(service) as client:
                ask = asking(client)

                assert await ask("agent::echo", "hello") == "hello"
                assert json.loads(await ask("workflow::w", "hi")) == {
                    "path": "/old",
                    "authorization": "Bearer s3cret",
                    "resource": {"kind": "workflow", "id": "w", "expertIndex": None},
                    "text": "hi",
                    "channel": "http-webhook",
                }
                default = json.loads(await ask("helper", "hi"))
                assert default["path"] == "/default/"
                assert default["authorization"] is None
                assert default["resource"] == {"kind": "agent", "id": "helper", "expertIndex": 0}

                rules.write_text(RULE.format(url=f"{base}/new"), "utf-8")
                service.process.send_signal(signal.SIGHUP)
                until(lambda: "read again" in service.output, "the new rules are read")
                assert json.loads(await ask("workflow::w", "hi"))["path"] == "/new"

                rules.write_text("[[rule]]\nmatch = 7\n", "utf-8")
                service.process.send_signal(signal.SIGHUP)
                until(lambda: "line 2: match must be a text" in service.output, "the fault is told")
                assert json.loads(await ask("workflow::w", "hi"))["path"] == "/new"
                assert "s3cret" not in service.output


def test_bad_rules_keep_the_service_from_starting(open_folder: Path) -> None:
    rules = open_folder / "resources.toml"
    rules.write_text("[[rule]]\n\nmatch = 7\n", "utf-8")
    ports = {"HTTP_PORT": "0", "GRPC_PORT": "0"}
    line = one_line(run_once(open_folder / "data", "up", settings={**ports, "RESOURCES_FILE": str(rules)}))
    assert re.search(r"RESOURCES_FILE: .*line 3: match must be a text", line)
