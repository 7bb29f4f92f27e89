"""Requests for downstream resources, and stand-ins for what answers them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from domain.access.sharing import Level
from domain.agents.model import Agent
from domain.knowledge.model import Base, SearchResult
from domain.refusals import StorageAway
from domain.routing.model import AgentTask, InputFile, Resource, RunRequest, RunResult, RunSender
from domain.routing.resource import parse_resource
from ports.resources import Turn


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


def a_base(base_id: int) -> Base:
    now = datetime.now(UTC)
    return Base(base_id, f"Base {base_id}", "", "owner-1", now, now, Level.READ)


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
    """Answers with what it was asked. `bases` are readable, with what a search finds in each."""

    def __init__(self, bases: Mapping[int, Sequence[SearchResult]] | None = None) -> None:
        self.bases = dict(bases or {})
        self.queries: list[tuple[int, str]] = []
        self.away = False

    async def readable(self, user: str, base_ids: Sequence[int]) -> Sequence[Base]:
        return [a_base(base_id) for base_id in sorted(base_ids) if base_id in self.bases]

    async def passages(self, base: Base, query: str) -> Sequence[SearchResult]:
        self.queries.append((base.id, query))
        if self.away:
            raise StorageAway("the database is away")
        return self.bases[base.id]

    async def answer(self, owner: str, base_id: int, question: str) -> RunResult:
        return RunResult(f"{owner} asks {base_id}: {question}")


class NoAgents:
    """The one method of `ports.agents.AgentStore` that resources call, of an installation without agents."""

    async def running(self) -> Sequence[tuple[Agent, Mapping[str, Level]]]:
        return []


class States:
    """`ports.resources.ResourceStates` in memory."""

    def __init__(self) -> None:
        self.saved: dict[tuple[int, str, str], Mapping[str, Any]] = {}

    async def load(self, instance_id: int, session_id: str, resource: Resource) -> Mapping[str, Any]:
        return self.saved.get((instance_id, session_id, str(resource)), {})

    async def save(
        self,
        instance_id: int,
        session_id: str,
        resource: Resource,
        state: Mapping[str, Any],
        inbox_id: int | None = None,
    ) -> None:
        self.saved[instance_id, session_id, str(resource)] = dict(state)


class Tasks:
    """`ports.resources.AgentTasks` in memory. `refuses`: the instance is gone."""

    def __init__(self) -> None:
        self.open: dict[str, AgentTask] = {}
        self.finished: set[str] = set()
        self.held: list[float] = []
        self.refuses = False

    async def add(self, task: AgentTask) -> bool:
        if not self.refuses:
            self.open[task.request_id] = task
        return not self.refuses

    async def is_finished(self, instance_id: int, request_id: str) -> bool | None:
        return request_id in self.finished if request_id in {*self.open, *self.finished} else None

    async def hold(self, instance_id: int, request_id: str, seconds: float) -> None:
        if task := self.open.get(request_id):
            self.open[request_id] = replace(task, polls=task.polls + 1)
            self.held.append(seconds)

    async def remove(self, instance_id: int, request_id: str) -> None:
        self.open.pop(request_id, None)

    async def lease_due(self) -> Sequence[AgentTask]:
        self.open = {id: replace(task, polls=task.polls + 1) for id, task in self.open.items()}
        return list(self.open.values())

    async def renew(self, task: AgentTask) -> bool:
        return self.open.get(task.request_id) == task

    async def postpone(self, task: AgentTask, seconds: float) -> None:
        """It stays open."""

    async def finish(self, task: AgentTask) -> None:
        self.finished.add(task.request_id)
        del self.open[task.request_id]


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
