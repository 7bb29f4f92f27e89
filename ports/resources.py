"""Downstream resources, and what they may ask of knowledge bases."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from domain.access.model import Caller
from domain.knowledge.model import Base, SearchResult
from domain.routing.model import AgentTask, Resource, ResourceRule, ResourceRules, RunRequest, RunResult


class ResourceDirectory(Protocol):
    """The rules in force of this process."""

    async def rules(self) -> ResourceRules: ...

    async def find(self, resource: Resource, caller: Caller) -> ResourceRule | None:
        """What takes it: the first rule that fits, an agent that the caller may READ, the built-in, or the default.
        None also for the agent of somebody else."""


class DownstreamFailed(Exception):
    """A resource that gave no answer. The message is for the record, holds no secret, and is not shown to
    senders. `retryable`: asking again may help, at best after `retry_after` seconds. `begun`: the resource
    may have worked on the request, False when it was surely not reached or refused to."""

    def __init__(
        self, message: str, *, retryable: bool, retry_after: float | None = None, begun: bool = True
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.begun = begun


class Downstream(Protocol):
    async def run(self, request: RunRequest) -> RunResult:
        """Runs the request's resource on its message. Raises `DownstreamFailed`."""


class KnowledgeReader(Protocol):
    """Reads knowledge bases for a model, and answers from one for the built-in resource `agent::kb-<id>`."""

    async def answer(self, owner: str, base_id: int, question: str) -> RunResult:
        """The best passages with their file names, or a plain "nothing found". What `owner` may not read is
        answered like what does not exist."""

    async def readable(self, user: str, base_ids: Sequence[int]) -> Sequence[Base]:
        """Those that the user may READ; what the user may not read is left out like what does not exist."""

    async def passages(self, base: Base, query: str) -> Sequence[SearchResult]:
        """The best passages, the best first; none where nothing has to do with the query."""


class Role(StrEnum):
    """Who said a turn of a conversation. A tool call and its result are turns of their own."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation, as text; what the text of a tool's turn holds is its writer's own."""

    role: Role
    text: str


class KnowledgeModels(Protocol):
    """The models that answer questions to knowledge bases."""

    async def answer(self, request: RunRequest, base: Base, earlier: Sequence[Turn]) -> RunResult | None:
        """What the model behind the request's resource answers from the base; None where no model is behind it.

        Raises `DownstreamFailed`.
        """


class ResourceStates(Protocol):
    """What the protocol of a resource keeps between two messages of a conversation, such as the id of a thread or of
    an unfinished task: a JSON object for each instance, session and resource. It goes with the conversation, and
    after 30 days without a change."""

    async def load(self, instance_id: int, session_id: str, resource: Resource) -> Mapping[str, Any]:
        """The state, empty where none was saved."""

    async def save(
        self,
        instance_id: int,
        session_id: str,
        resource: Resource,
        state: Mapping[str, Any],
        inbox_id: int | None = None,
    ) -> None:
        """Replaces the state; an empty one deletes it. Nothing is saved for a stored message that was erased, or for
        an instance that is gone."""


LEASE_SECONDS = 120
"""How long a task is one process's to poll."""
LONGEST_PAUSE = 600.0
"""Seconds between two polls of a task, where the resource asks for a pause."""


class AgentTasks(Protocol):
    """Tasks that outlive their runs. A task belongs to the request that began it."""

    async def add(self, task: AgentTask) -> bool:
        """Stores a task to be polled; one that is stored stays as it is. False: the instance is gone, or the message
        was erased."""

    async def is_finished(self, instance_id: int, request_id: str) -> bool | None:
        """Return True if the task is polled no more, as its result was sent; None if it is not stored."""

    async def hold(self, instance_id: int, request_id: str, seconds: float) -> None:
        """Leases a task for so many seconds to a message that goes to it. Who leased it before cannot `renew` it."""

    async def remove(self, instance_id: int, request_id: str) -> None:
        """Ends the polling of a task whose result a later message gets."""

    async def lease_due(self) -> Sequence[AgentTask]:
        """Tasks that are to be polled now; each is this caller's for `LEASE_SECONDS`."""

    async def renew(self, task: AgentTask) -> bool:
        """Leases a task for longer. False: it was leased by another, or removed."""

    async def postpone(self, task: AgentTask, seconds: float) -> None:
        """Polls the task again after so many seconds, if it is still leased."""

    async def finish(self, task: AgentTask) -> None:
        """Notes that the task is polled no more."""


PollTask = Callable[[AgentTask, str], Awaitable[RunResult | None]]
"""Gives the result of a task of an instance of that owner, None while the resource works on it. Raises
`DownstreamFailed`, `Unavailable`."""


class ChatHistory(Protocol):
    """The conversations of resources that keep none themselves, one per instance and session."""

    async def load(self, instance_id: int, session_id: str, request_id: str) -> Sequence[Turn]:
        """The latest turns of all requests but this one, oldest first."""

    async def append(
        self,
        instance_id: int,
        session_id: str,
        request_id: str,
        turns: Sequence[Turn],
        inbox_id: int | None = None,
    ) -> None:
        """Adds the turns of a request in place of those that an earlier try of it left, and drops the oldest
        turns of the session beyond the bound. Nothing is added for a stored message that was erased."""
