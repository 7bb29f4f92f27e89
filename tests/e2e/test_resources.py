"""Resources from RESOURCES_FILE and DOWNSTREAM_URL, seen from the outside of a running service."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from adapters.outbound.http.client import AioHttp
from adapters.outbound.http.policy import AddressPolicy
from ports.http import HttpAnswer, HttpRequest
from tests.support.processes import Running, switchboard_up
from tests.support.servers import serving
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


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("open"))
    yield client
    await client.close()


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


def asking(http: AioHttp, service: Running) -> Ask:
    """Makes an instance that answers in the call, once per resource id, and asks it."""
    instances: dict[str, int] = {}

    async def call(path: str, body: Any) -> HttpAnswer:
        headers = {"Authorization": f"Bearer {service.key}"}
        return await http.send(HttpRequest("POST", service.address + path, headers=headers, json=body))

    async def ask(resource: str, text: str) -> str:
        if resource not in instances:
            new = {
                "channelId": "http-webhook",
                "channelName": f"for {resource}",
                "config": {"syncResponse": True},
                "downStreamResourceId": resource,
            }
            created = await call("/api/agent/channel-instances", new)
            assert created.status == 201, created.body
            instances[resource] = created.json()["instanceId"]
        answer = await call(
            f"/api/agent/channels/http-webhook/{instances[resource]}/webhook", {"message": text}
        )
        assert answer.status == 200, answer.body
        return str(answer.json()["response"])

    return ask


async def test_messages_go_where_the_rules_send_them(http: AioHttp, tmp_path: Path) -> None:
    rules = tmp_path / "resources.toml"
    async with serving(describing) as base:
        rules.write_text(RULE.format(url=f"{base}/old"), "utf-8")
        settings = {
            "RESOURCES_FILE": str(rules),
            "RUNNER_TOKEN": "s3cret",
            "DOWNSTREAM_URL": f"{base}/default/",
        }
        with switchboard_up(**settings) as service:
            ask = asking(http, service)

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
            service.send(signal.SIGHUP)
            until(lambda: "read again" in service.log, "the new rules are read")
            assert json.loads(await ask("workflow::w", "hi"))["path"] == "/new"

            rules.write_text("[[rule]]\nmatch = 7\n", "utf-8")
            service.send(signal.SIGHUP)
            until(lambda: "line 2: match must be a text" in service.log, "the fault is told")
            assert json.loads(await ask("workflow::w", "hi"))["path"] == "/new"
            assert "s3cret" not in service.log


async def test_bad_rules_keep_the_service_from_starting(tmp_path: Path) -> None:
    rules = tmp_path / "resources.toml"
    rules.write_text("[[rule]]\n\nmatch = 7\n", "utf-8")

    with (
        pytest.raises(AssertionError, match=r"RESOURCES_FILE: .*line 3: match must be a text"),
        switchboard_up(RESOURCES_FILE=str(rules)),
    ):
        pass
