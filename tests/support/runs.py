"""Requests for downstream resources, and stand-ins for what answers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from domain.routing.model import InputFile, RunRequest, RunResult, RunSender
from domain.routing.resource import parse_resource
from ports.downstream import Turn


def a_request(resource: str = "agent::helper_1", **changes: Any) -> RunRequest:
    """A plain message for `resource`."""
    request = RunRequest(
        resource=parse_resource(resource),
        request_id="3f2b8c1e-0000-4000-8000-000000000001",
        instance_id=7,
        channel_id="bot-messenger",
        session_id="4711",
        sender=RunSender("4711", "Ada", None),
        text="How late is it?",
        owner="owner-1",
        timeout=60.0,
    )
    return replace(request, **changes)


A_FILE = InputFile("a.png", "image/png", 3, "http://127.0.0.1:3011/files/a?sig=1")


class ScriptedRunner:
    """Answers with the given results or failures in turn, the last one for ever; remembers the requests."""

    def __init__(self, *outcomes: RunResult | Exception) -> None:
        self.outcomes = list(outcomes)
        self.requests: list[RunRequest] = []

    async def run(self, request: RunRequest) -> RunResult:
        self.requests.append(request)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class Knowledge:
    """Answers with what it was asked."""

    async def answer(self, owner: str, base_id: int, question: str) -> RunResult:
        return RunResult(f"{owner} asks {base_id}: {question}")


class Remembered:
    """A chat history in memory."""

    def __init__(self) -> None:
        self.entries: list[tuple[tuple[int, str], str, tuple[Turn, ...]]] = []

    async def load(self, instance_id: int, session_id: str, request_id: str) -> Sequence[Turn]:
        session = (instance_id, session_id)
        return [
            turn
            for key, request, turns in self.entries
            for turn in turns
            if key == session and request != request_id
        ]

    async def append(
        self,
        instance_id: int,
        session_id: str,
        request_id: str,
        turns: Sequence[Turn],
        inbox_id: int | None = None,
    ) -> None:
        session = (instance_id, session_id)
        self.entries = [entry for entry in self.entries if entry[:2] != (session, request_id)]
        self.entries.append((session, request_id, tuple(turns)))
