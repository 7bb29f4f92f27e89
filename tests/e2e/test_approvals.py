"""What a user decides about a tool is carried out once, whatever is killed in between."""

import contextlib
import signal
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from domain.confirmations.model import unclear
from tests.support.armed_service import ArmedService
from tests.support.failpoints import APPROVE, CALL, Stage
from tests.support.postgres import fresh_database
from tests.support.receiver import Receiver
from tests.support.waiting import until

pytestmark = pytest.mark.processes

BEFORE_RUN, IN_RUN, AFTER_START = SESSIONS = ("killed-before", "killed-within", "killed-never")
LEASES_END = "UPDATE approval_request SET due_at = now() WHERE finished_at IS NULL AND decision IS NOT NULL"


def answer(body: Any) -> Any:
    """The resource: it asks before it opens anything."""
    if body.get("approval"):
        return {"text": f"it is open: {body['approval']['decision']}"}
    return {"text": "", "confirmation": {"tool": "open_valve", "parameters": {}}}


class Valve:
    """A service whose admin decides about a tool, and three people who asked for it."""

    def __init__(self, service: ArmedService, receiver: Receiver) -> None:
        self.service, self.receiver = service, receiver
        self.ids: dict[str, int] = {}

    def ask(self) -> None:
        created = self.service.create_instance(
            channelId="http-webhook",
            channelName="valve",
            config={"responseWebhookUrl": self.receiver.url},
            downStreamResourceId="agent::valve",
            approvalPolicy=[{"tool": "open_*", "by": "user:admin"}],
        )
        path = f"/api/agent/channels/http-webhook/{created['instanceId']}/webhook"
        for session in SESSIONS:
            body = {"message": "open", "sessionId": session}
            assert self.service.post(path, body).status_code == 200
        until(lambda: all(map(self.texts, SESSIONS)), "all are told that it waits")
        with self.service.client() as client:
            approvals = client.get("/api/agent/approvals").json()["approvals"]
        self.ids = {approval["sessionId"]: approval["id"] for approval in approvals}

    def approve(self, session: str) -> int:
        """The status of the answer, 0 where the service died over it."""
        with contextlib.suppress(httpx.TransportError), self.service.client() as client:
            path = f"/api/agent/approvals/{self.ids[session]}/decision"
            return client.post(path, json={"decision": "approved"}).status_code
        return 0

    def texts(self, session: str) -> list[str]:
        """What was sent, once where it was sent again with the same key."""
        sent = dict(self.receiver.received)
        return [body["response"] for body in sent.values() if body["sessionId"] == session]


def test_a_decision_outlives_kills_and_is_carried_out_once(postgres_dsn: str, tmp_path: Path) -> None:
    with (
        Receiver() as receiver,
        Receiver(answer) as resource,
        fresh_database(postgres_dsn) as url,
        ArmedService(tmp_path, url, DOWNSTREAM_URL=resource.url) as started,
    ):
        assert isinstance(started, ArmedService)
        service, valve = started, Valve(started, receiver)
        valve.ask()

        service.start(Stage(APPROVE, after=True, about=BEFORE_RUN))
        assert valve.approve(BEFORE_RUN) == 0
        assert service.ended() == -signal.SIGKILL

        service.start(Stage(CALL, after=True, about=IN_RUN))
        until(lambda: len(valve.texts(BEFORE_RUN)) == 2, "the decision of before is carried out")
        assert valve.approve(BEFORE_RUN) == 200, "the answer to the decision is made up for"
        valve.approve(IN_RUN)
        assert service.ended() == -signal.SIGKILL

        service.start()
        assert valve.approve(AFTER_START) == 200
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(LEASES_END)
        until(lambda: all(len(valve.texts(session)) == 2 for session in SESSIONS), "all hear what came of it")

        done = "The tool `open_valve` was approved.\n\nit is open: approved"
        assert [valve.texts(session)[1] for session in SESSIONS] == [done, unclear("open_valve"), done]
        decided = [body["sessionId"] for body in resource.bodies if body.get("approval")]
        assert sorted(decided) == sorted(SESSIONS), "no tool runs twice"
