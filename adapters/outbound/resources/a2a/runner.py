"""Runs resources that are agents of the A2A protocol (https://a2a-protocol.org), version 1.x."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast

from a2a.types import Message

from adapters.outbound.resources.a2a.agent import Agent, TaskRefused
from adapters.outbound.resources.a2a.messages import TaskReader, message_of
from adapters.outbound.resources.a2a.target import A2aTarget, CardCache
from adapters.outbound.resources.answers import usable
from adapters.tasks import seen
from domain.routing.conversation import WITHDRAWN
from domain.routing.model import TAKES_LONGER, AgentTask, RunRequest, RunResult
from ports.http import Http
from ports.resources import LEASE_SECONDS, AgentTasks, DownstreamFailed, ResourceStates

FIRST_POLL, LONGEST_POLL = 1.0, 5.0
"""Seconds between two polls of a task within its run."""
MARGIN = 5.0
"""Seconds before the end of a run in which its task is noted for later; a tenth of the time where that is less."""
MOST_TOLD = 100
"""Artifacts of a task that the sender has."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _State:
    """The state between two messages of a conversation: its context; the task that the latest request began or
    continued; the task that waits for the sender, and the artifacts of it that the sender has, since the answer to
    the request `answered_request_id`."""

    context_id: str = ""
    request_id: str = ""
    task_id: str = ""
    waiting_task_id: str = ""
    artifact_ids: tuple[str, ...] = ()
    answered_request_id: str = ""

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> "_State":
        known = {name: stored[name] for name in cls.__slots__ if name in stored}
        return cls(**{**known, "artifact_ids": tuple(known.get("artifact_ids", ()))})

    def dump(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)}

    def artifacts_before(self, request_id: str) -> frozenset[str]:
        return frozenset(self.artifact_ids) if request_id != self.answered_request_id else frozenset()

    def interrupted(self, reader: TaskReader, request_id: str) -> "_State":
        """The task waits for the sender, who gets all artifacts with the answer to a request."""
        return replace(
            self,
            context_id=reader.context_id or self.context_id,
            waiting_task_id=reader.task_id,
            artifact_ids=tuple(reader.artifact_ids[-MOST_TOLD:]),
            answered_request_id=request_id,
        )


@dataclass(slots=True)
class _Run:
    request: RunRequest
    state: _State
    reader: TaskReader

    @property
    def place(self) -> tuple[int, str, Any]:
        return self.request.instance_id, self.request.session_id, self.request.resource


@dataclass(eq=False)
class A2aRunner:
    """Sends each message to one agent, follows the task that comes of it, and notes it for later where it takes
    longer than the run may."""

    http: Http
    states: ResourceStates
    tasks: AgentTasks
    target: A2aTarget
    cards: CardCache = field(default_factory=CardCache)
    _canceling: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    async def run(self, request: RunRequest) -> RunResult:
        """Raises `DownstreamFailed`. A request that began a task before is not sent again; the result of a task that
        is polled already is left to who polls it."""
        agent = self._agent()
        place = request.instance_id, request.session_id, request.resource
        state = _State.load(await self.states.load(*place))
        is_known = state.request_id == request.request_id and bool(state.task_id)
        run = _Run(request, state, TaskReader(self.target.token, state.artifacts_before(request.request_id)))
        try:
            with usable():
                async with asyncio.timeout(request.timeout - min(MARGIN, request.timeout / 10)):
                    if not is_known:
                        await self._send(agent, run)
                    elif (answer := await self._earlier(agent, run)) is not None:
                        return answer
                    await self._follow(agent, run)
                result = run.reader.result()
                if run.reader.is_interrupted:
                    run.state = run.state.interrupted(run.reader, run.request.request_id)
                    await self.states.save(*run.place, run.state.dump(), run.request.inbox_id)
                if run.reader.needs_access:
                    await self._poll_later(run)
                return result
        except TimeoutError:
            return await self._later(run)
        except asyncio.CancelledError as cancelled:
            if WITHDRAWN in cancelled.args and run.reader.task_id:
                self._cancel(agent, run.reader.task_id)
            raise

    async def poll(self, task: AgentTask) -> RunResult | None:
        """The result of a task that outlived its run, None while the agent works on it. Raises `DownstreamFailed`."""
        place = task.instance_id, task.session_id, task.resource
        state = _State.load(await self.states.load(*place))
        reader = TaskReader(
            self.target.token,
            state.artifacts_before(task.request_id) if state.task_id == task.task_id else frozenset(),
        )
        with usable():
            reader.read_task(await self._agent().task(task.task_id))
            is_told = reader.needs_access and state.answered_request_id == task.request_id
            if is_told or not reader.is_settled:
                return None
            result = reader.result()
        if reader.is_interrupted:
            waiting = state.interrupted(reader, task.request_id)
            await self.states.save(*place, waiting.dump(), task.inbox_id)
        return result

    def _agent(self) -> Agent:
        return Agent(self.http, self.target, self.cards)

    async def _earlier(self, agent: Agent, run: _Run) -> RunResult | None:
        """Reads the task that the request began before. The answer where the task is polled: who polls it sends its
        result."""
        request, state = run.request, run.state
        is_finished = await self.tasks.is_finished(request.instance_id, request.request_id)
        if is_finished:
            return RunResult("")
        if state.answered_request_id != request.request_id:
            await self.tasks.remove(request.instance_id, state.answered_request_id)
        run.reader.read_task(await agent.task(state.task_id))
        is_left = is_finished is False and not run.reader.needs_access
        return RunResult(TAKES_LONGER) if is_left else None

    async def _send(self, agent: Agent, run: _Run) -> None:
        """Sends the message to the task that waits for it. Where the agent refuses that, it is a new task of the
        context; where it refuses that too, as it has forgotten the context, a task of a new one."""
        context_id, waiting = run.state.context_id, run.state.waiting_task_id
        polled = run.request.instance_id, run.state.answered_request_id
        if waiting:  # what is sent of it from now on may be the answer to this message
            await self.tasks.hold(*polled, LEASE_SECONDS)
        places = dict.fromkeys([(context_id, waiting), (context_id, ""), ("", "")])
        while places:
            context_id, task_id = next(iter(places))
            del places[context_id, task_id]
            artifact_ids = run.state.artifacts_before(run.request.request_id) if task_id else frozenset()
            run.reader = TaskReader(self.target.token, artifact_ids, continues=bool(task_id))
            try:
                return await self._stream(agent, run, message_of(run.request, context_id, task_id))
            except TaskRefused:
                if not places:
                    raise
                if task_id:  # it may have ended meanwhile
                    await self.tasks.hold(*polled, 0)
        return None

    async def _stream(self, agent: Agent, run: _Run, message: Message) -> None:
        """Reads what comes of the message. Once the task is known, it is asked for where the stream breaks off."""
        reader, request = run.reader, run.request
        try:
            async with aclosing(cast(Any, agent.send(message, request.timeout))) as events:
                async for event in events:
                    reader.read(event)
                    await self._note(run)
                    if request.progress and reader.has_begun:
                        request.progress(reader.text)
                    if reader.is_settled:
                        return
        except DownstreamFailed as failed:
            if not reader.task_id or not failed.retryable:
                raise
            log.info("the stream of an agent broke off; its task is asked for: %s", failed)
        if not reader.task_id:
            raise DownstreamFailed("the agent's answer ends before it says anything", retryable=True)
        reader.goes_on()

    async def _follow(self, agent: Agent, run: _Run) -> None:
        """Asks for the task until it ends or waits for the sender; what fails for the moment is asked for again."""
        pause = FIRST_POLL
        while not run.reader.is_settled:
            await asyncio.sleep(pause)
            pause = min(LONGEST_POLL, pause * 1.5)
            try:
                run.reader.read_task(await agent.task(run.reader.task_id))
            except DownstreamFailed as failed:
                if not failed.retryable:
                    raise
                pause = max(pause, failed.retry_after or 0.0)

    async def _note(self, run: _Run) -> None:
        """Keeps the ids of context and task as soon as they are known."""
        reader, state = run.reader, run.state
        context_id = reader.context_id or state.context_id
        if reader.task_id:
            is_same = reader.task_id in (state.waiting_task_id, state.task_id)
            noted = replace(
                state if is_same else _State(),
                context_id=context_id,
                request_id=run.request.request_id,
                task_id=reader.task_id,
                waiting_task_id="",
            )
        else:
            noted = replace(state, context_id=context_id)
        if noted != state:
            run.state = noted
            await self.states.save(*run.place, noted.dump(), run.request.inbox_id)
            if reader.task_id == state.waiting_task_id:  # its result is the answer to this message
                await self.tasks.remove(run.request.instance_id, state.answered_request_id)

    async def _later(self, run: _Run) -> RunResult:
        """Raises `DownstreamFailed` where there is no task, or nobody to be told of its result."""
        if not run.reader.task_id or not await self._poll_later(run):
            reason = f"the agent does not answer within {run.request.timeout:g} s"
            raise DownstreamFailed(reason, retryable=False)
        return RunResult(TAKES_LONGER)

    async def _poll_later(self, run: _Run) -> bool:
        request = run.request
        task = AgentTask(
            instance_id=request.instance_id,
            session_id=request.session_id,
            resource=request.resource,
            request_id=request.request_id,
            task_id=run.reader.task_id,
            inbox_id=request.inbox_id,
        )
        return await self.tasks.add(task)

    def _cancel(self, agent: Agent, task_id: str) -> None:
        """Asks the agent to cancel a task; nothing waits for it."""

        async def cancel() -> None:
            try:
                await agent.cancel(task_id)
            except DownstreamFailed as failed:
                log.info("the task of a deleted message goes on: %s", failed)

        task = asyncio.create_task(cancel())
        self._canceling.add(task)
        task.add_done_callback(self._canceling.discard)
        task.add_done_callback(seen)
