"""Asks an agent in tests as Switchboard does, without a server."""

import asyncio
import base64
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import httpx

from switchboard_sdk.agent import Agent

Decision = Literal["approved", "approved_for_session", "rejected"]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as Switchboard gets it. `pieces`: the texts that were streamed; `json`: the whole answer."""

    status: int
    json: Mapping[str, Any]
    pieces: Sequence[str] = ()

    @property
    def text(self) -> str:
        return str(self.json.get("text", ""))

    @property
    def files(self) -> dict[str, bytes]:
        """The files that lie in the answer, by name."""
        artifacts = self.json.get("artifacts", [])
        return {
            file["name"]: base64.b64decode(file["dataBase64"]) for file in artifacts if "dataBase64" in file
        }


class AgentTest:
    """One conversation with an agent.

    `with AgentTest(agent) as conversation: assert conversation.ask("Hello").text == "Hello!"`; in coroutines
    `await AgentTest(agent).ask_async("Hello")`.
    """

    def __init__(self, agent: Agent, *, session_id: str = "test", user_id: str | None = None) -> None:
        self._agent = agent
        self._session_id = session_id
        self._user_id = user_id
        self._runner = asyncio.Runner()
        self._approved: list[str] = []
        self._asked: dict[str, Any] = {}
        self._tool = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._runner.close()

    def ask(self, text: str, **fields: Any) -> Reply:
        """Write to the agent. `fields` are further ones of the request, by their names in JSON: `context={...}`."""
        return self._runner.run(self.ask_async(text, **fields))

    def decide(self, decision: Decision) -> Reply:
        """Decide on the tool that the last answer asked for."""
        return self._runner.run(self.decide_async(decision))

    def fill_in(self, values: Mapping[str, Any], name: str = "") -> Reply:
        """Fill in a form."""
        return self._runner.run(self.fill_in_async(values, name))

    async def ask_async(self, text: str, **fields: Any) -> Reply:
        self._asked = {"text": text, **fields}
        return await self._post(self._asked)

    async def fill_in_async(self, values: Mapping[str, Any], name: str = "") -> Reply:
        form = {"name": name, "values": dict(values)} if name else {"values": dict(values)}
        lines = "\n".join(f"{field}: {value}" for field, value in values.items())
        return await self.ask_async(lines, form=form)

    async def decide_async(self, decision: Decision) -> Reply:
        if not self._tool:
            raise ValueError("the last answer asked for no decision")
        if decision == "approved_for_session":
            self._approved.append(self._tool)
        approval = {"confirmationId": str(uuid.uuid4()), "tool": self._tool, "decision": decision}
        return await self._post({"text": self._asked["text"], "approval": approval})

    async def _post(self, fields: Mapping[str, Any]) -> Reply:
        request_id = str(uuid.uuid4())
        body = {
            "resource": {"kind": "agent", "id": "test", "expertIndex": 0},
            "requestId": request_id,
            "instanceId": 1,
            "channelId": "test",
            "sessionId": self._session_id,
            "sender": {"externalId": "tester", "displayName": "Tester", "userId": self._user_id},
            "files": [],
            "approvedTools": list(self._approved),
            **fields,
        }
        headers = {"Accept": "text/event-stream, application/json", "Idempotency-Key": request_id}
        headers |= self._agent.authorization
        transport = httpx.ASGITransport(self._agent)
        async with httpx.AsyncClient(transport=transport, base_url="http://agent", timeout=600) as client:
            response = await client.post("/", json=body, headers=headers)
        reply = _reply_of(response)
        self._tool = reply.json.get("confirmation", {}).get("tool", "")
        return reply


def _reply_of(response: httpx.Response) -> Reply:
    if not response.content:
        return Reply(response.status_code, {})
    if not response.headers["content-type"].startswith("text/event-stream"):
        return Reply(response.status_code, response.json())
    lines = response.content.split(b"\n")
    events = [json.loads(line.removeprefix(b"data: ")) for line in lines if line.startswith(b"data: ")]
    pieces = [event["textDelta"] for event in events if "textDelta" in event]
    results = [event for event in events if "textDelta" not in event]
    return Reply(response.status_code if results else 500, results[0] if results else {}, pieces)
