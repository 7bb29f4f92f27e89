"""Channels through the whole service: a platform calls or is polled, an agent answers, the platform gets it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from twilio.request_validator import RequestValidator

from tests.support.folders import an_open_folder
from tests.support.platforms import drive, mattermost, odoo, teams, twilio
from tests.support.platforms.standin import StandIn
from tests.support.ports import free_port
from tests.support.service import Service

pytestmark = pytest.mark.processes

FIXTURES = Path(__file__).parents[2] / "adapters/outbound/channels"
SOON = 60.0


def fixture(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / path).read_text())
    return found


class Platforms:
    """The platforms on ports that are known before they serve, so that the service can be told of them."""

    def __init__(self) -> None:
        self.ports = {name: free_port() for name in ("twilio", "teams", "drive")}

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.ports[name]}"

    @property
    def settings(self) -> dict[str, str]:
        return {
            "SMS_PROVIDER_API_URL": self.url("twilio"),
            "ENTERPRISE_CHAT_LOGIN_URL": self.url("teams"),
            "ENTERPRISE_CHAT_OPENID_URL": self.url("teams"),
            "DRIVE_FOLDER_API_URL": self.url("drive"),
            "GOOGLE_TOKEN_URL": f"{self.url('drive')}/token",
        }


@pytest.fixture(scope="module")
def platforms() -> Platforms:
    return Platforms()


@pytest.fixture(scope="module")
def service(platforms: Platforms) -> Iterator[Service]:
    with an_open_folder() as folder, Service(folder / "data", settings=platforms.settings) as running:
        yield running


async def create(service: Service, channel_id: str, config: dict[str, Any]) -> tuple[int, str]:
    """An instance and the address that its platform calls."""
    made = await asyncio.to_thread(
        service.create_instance,
        channelId=channel_id,
        channelName=f"walk {channel_id}",
        config=config,
        downStreamResourceId="agent::echo",
    )
    assert made["success"], made
    instance_id = made["instanceId"]
    return instance_id, f"{service.base}/api/agent/channels/{channel_id}/{instance_id}/webhook"


async def eventually(found: Callable[[], Any]) -> Any:
    """What `found` gives once it is true."""
    async with asyncio.timeout(SOON):
        while not (value := found()):
            await asyncio.sleep(0.05)
        return value


async def on_port(platform: StandIn, port: int, act: Callable[[], Awaitable[None]]) -> None:
    """Serves a platform while `act` runs; fails if a request was wrong."""
    async with platform.serve(port):
        await act()
    assert not platform.faults, platform.faults


async def post(url: str, **content: Any) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        return await client.post(url, **content)


async def test_an_sms_is_answered(service: Service, platforms: Platforms) -> None:
    server = twilio.Twilio()

    async def act() -> None:
        config = {
            "accountSid": twilio.ACCOUNT,
            "authToken": twilio.TOKEN,
            "providerPhoneNumber": "+4915735980001",
        }
        _, url = await create(service, "sms-provider", config)
        message = fixture("sms_provider/fixtures/message.json")
        signature = RequestValidator(twilio.TOKEN).compute_signature(url, message)
        for _ in range(2):  # a redelivery is acknowledged and dropped
            answer = await post(url, data=message, headers={"X-Twilio-Signature": signature})
            assert (answer.status_code, answer.headers["content-type"]) == (200, "text/xml; charset=utf-8")
        refused = await post(
            url, data={**message, "Body": "forged"}, headers={"X-Twilio-Signature": signature}
        )
        assert refused.status_code == 401
        await eventually(lambda: server.messages)
        status = {**fixture("sms_provider/fixtures/status_undelivered.json"), "MessageSid": f"SM{1:032d}"}
        signature = RequestValidator(twilio.TOKEN).compute_signature(url, status)
        assert (await post(url, data=status, headers={"X-Twilio-Signature": signature})).status_code == 200
        assert [each["Body"] for each in server.messages] == [message["Body"]]

    await on_port(server, platforms.ports["twilio"], act)


async def test_a_post_in_mattermost_is_answered(service: Service) -> None:
    server = mattermost.Mattermost()
    port = free_port()

    async def act() -> None:
        payload = fixture("community_chat/fixtures/outgoing_webhook.json")
        config = {
            "SERVER_URL": f"http://127.0.0.1:{port}",
            "channelId": mattermost.CHANNEL,
            "token": mattermost.TOKEN,
            "webhookToken": payload["token"],
        }
        _, url = await create(service, "community-chat", config)
        server.files = dict.fromkeys(payload["file_ids"].split(","), ("menu.txt", b"menu"))
        answer = await post(url, json=payload)
        assert (answer.status_code, answer.content) == (200, b"{}")
        assert (await post(url, json={**payload, "token": "wrong"})).status_code == 401
        (made,) = await eventually(lambda: server.posts)
        assert (made["channel_id"], made["message"]) == (payload["channel_id"], payload["text"])

    await on_port(server, port, act)


async def test_a_message_in_teams_is_answered(service: Service, platforms: Platforms) -> None:
    server = teams.Teams()

    async def act() -> None:
        config = {"appId": teams.APP_ID, "appPassword": teams.PASSWORD, "tenantId": teams.TENANT}
        _, url = await create(service, "enterprise-chat", config)
        service_url = f"{platforms.url('teams')}/"
        activity = {**fixture("enterprise_chat/fixtures/message_personal.json"), "serviceUrl": service_url}

        async def called(**options: Any) -> int:
            token = teams.token(datetime.now(UTC), service_url, **options)
            answer = await post(url, json=activity, headers={"Authorization": f"Bearer {token}"})
            return answer.status_code

        assert await called(aud="another app") == 401
        assert await called(serviceurl="https://evil.example/") == 403
        assert await called() == 200
        ((below, sent),) = await eventually(lambda: server.replies)
        assert (below, sent["text"]) == (activity["id"], activity["text"])
        server.kids = ["key-2"]  # Microsoft changes its keys
        assert await called(kid="key-2") == 200
        assert await called(kid="key-3") == 401

    await on_port(server, platforms.ports["teams"], act)


async def test_a_schedule_is_fired_by_hand_and_removes_itself(service: Service) -> None:
    config = {
        "cronSchedule": "0 0 1 1 *",
        "message": "Happy new year.",
        "oneShot": True,
        "triggerSecret": "x",
    }
    instance_id, url = await create(service, "cron", config)
    trigger = url.removesuffix("webhook") + "manual_trigger"
    assert (await post(trigger)).status_code == 401
    answer = await post(trigger, headers={"X-Webhook-Secret": "x"})
    assert (answer.status_code, answer.json()["status"]) == (202, "accepted")
    assert (await post(url, headers={"X-Webhook-Secret": "x"})).status_code == 404

    def gone() -> bool:
        with service.client() as client:
            return client.get(f"/api/agent/channel-instances/{instance_id}").status_code == 404

    await eventually(gone)


async def test_a_changed_record_in_odoo_gets_a_note(service: Service) -> None:
    server = odoo.Odoo()
    port = free_port()

    async def act() -> None:
        record_id = server.make("Workshop GmbH")
        config = {
            "erpUrl": f"http://127.0.0.1:{port}",
            "database": odoo.DATABASE,
            "username": odoo.LOGIN,
            "password": odoo.KEY,
            "models": "res.partner",
            "events": "create,write,unlink",
            "checkInterval": 0.01,
        }
        await create(service, "erp-events", config)
        await eventually(lambda: len(server.seen) > 5)
        server.wait(minutes=1)
        server.change(record_id, name="Workshop AG")
        ((_, noted, note),) = await eventually(lambda: server.notes)
        assert noted == record_id
        assert "Odoo write event in res.partner" in note["body"]
        assert "Workshop AG" in note["body"]

    await on_port(server, port, act)


async def test_a_new_file_in_drive_gets_an_answer(service: Service, platforms: Platforms) -> None:
    server = drive.Drive()

    async def act() -> None:
        config = {**drive.CLIENT, "folderId": drive.FOLDER, "checkInterval": 0.01}
        await create(service, "drive-folder", config)

        def looks() -> int:
            return sum(seen.path == "/drive/v3/files" for seen in server.seen)

        await eventually(looks)
        file_id = server.put("plan.txt", "text/plain")
        server.contents[file_id] = b"the plan"
        ((metadata, _, content),) = await eventually(lambda: server.uploaded)
        assert metadata["name"] == "plan.txt - answer.txt"
        assert content.decode().startswith("File updated: plan.txt at https://drive.google.com/")
        before = looks()
        await eventually(lambda: looks() > before + 3)
        assert len(server.uploaded) == 1

    await on_port(server, platforms.ports["drive"], act)
