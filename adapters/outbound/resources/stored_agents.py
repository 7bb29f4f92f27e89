"""Stored agents as they run: read at first use, and again after a change in any process."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.outbound.resources.a2a.target import A2aTarget
from adapters.outbound.resources.agent_http import Recorder, UserAddresses
from adapters.outbound.resources.agent_rules import BadAgent, rule_of_agent
from adapters.outbound.resources.echoed_secrets import written_forms
from adapters.outbound.resources.grpc_runner import GrpcTarget
from adapters.outbound.resources.kinds import a2a_runner
from adapters.outbound.resources.messages import request_json
from adapters.outbound.resources.router import Runners, Unconnected
from adapters.outbound.resources.rules import Rule
from adapters.outbound.resources.rules_file import RulesFile
from domain.access.sharing import Level
from domain.agents.model import Agent, AgentDefinition, AgentExchange
from domain.confirmations.policy import ApprovalRule, is_by_sender
from domain.refusals import Fault, Invalid
from domain.routing.model import AgentTask, Resource, ResourceKind, RunRequest, RunResult
from ports.agents import AgentStore
from ports.resources import Downstream, DownstreamFailed

log = logging.getLogger(__name__)

NEEDS_TRUST = (
    "grpc calls addresses that the outbound policy does not see; ask an admin to mark the agent as trusted"
)


@dataclass(frozen=True, slots=True)
class AsOwner:
    """Runs an agent with the rights of its owner: a shared agent answers from the bases of who set it up."""

    inner: Downstream
    owner: str

    async def run(self, request: RunRequest) -> RunResult:
        if request.owner != self.owner:
            request = replace(request, owner=self.owner)
        return await self.inner.run(request)


@dataclass(frozen=True, slots=True)
class UnderPolicy:
    """Runs an agent under its approval policy."""

    inner: Downstream
    policy: tuple[ApprovalRule, ...]

    async def run(self, request: RunRequest) -> RunResult:
        tools = tuple(tool for tool in request.approved_tools if is_by_sender(self.policy, tool))
        policy = (*request.approval_policy, *self.policy)
        result = await self.inner.run(replace(request, approved_tools=tools, approval_policy=policy))
        if result.confirmation is None:
            return result
        return replace(result, confirmation=result.confirmation.under(self.policy))


@dataclass(slots=True, eq=False)
class _Running:
    """An agent, the levels of its users, and its rule, None where it cannot be used. It gets a runner when it is
    asked for the first time: some protocols have libraries that take long to load."""

    agent: Agent
    levels: Mapping[str, Level]
    rule: Rule | None
    runner: Downstream | None = None

    def may_be_used(self, user_id: str) -> bool:
        return self.rule is not None and self.levels.get(user_id, Level.NONE) >= Level.READ


@dataclass(slots=True, eq=False)
class StoredAgents:
    """The agents in force. `file`: its rules take their ids first."""

    store: AgentStore
    runners: Runners
    file: RulesFile
    _running: dict[str, _Running] = field(default_factory=dict)
    _changes: int = 1
    _read_changes: int = 0
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    def forget(self, _: object = None) -> None:
        """An agent changed: they are read again before the next one is asked."""
        self._changes += 1

    async def find(self, resource: Resource, owner: str) -> Downstream | None:
        """What runs the agent for an instance of that owner; None where no agent has this id.

        Raises `Unavailable`.
        """
        running = await self._of(resource)
        if running is None:
            return None
        if running.rule is None or not running.may_be_used(owner):
            return Unconnected()
        if running.runner is None:
            running.runner = _built(running.agent, running.rule, self.runners)
        return running.runner

    async def rule(self, resource: Resource, user_id: str) -> tuple[Agent, Rule] | None:
        """The agent behind an id that the user may READ, and its rule. Raises `Unavailable`."""
        running = await self._of(resource)
        if running is None or running.rule is None or not running.may_be_used(user_id):
            return None
        return running.agent, running.rule

    async def has(self, resource: Resource) -> bool:
        return await self._of(resource) is not None

    async def all(self) -> Sequence[tuple[Agent, Rule]]:
        """Those that can be used. Raises `Unavailable`."""
        await self._read()
        return [
            (running.agent, running.rule) for running in self._running.values() if running.rule is not None
        ]

    async def _of(self, resource: Resource) -> _Running | None:
        if self._read_changes != self._changes:
            await self._read()
        slug = resource.id if resource.kind is ResourceKind.AGENT else None
        return self._running.get(slug) if slug else None

    async def _read(self) -> None:
        async with self._reading:
            changes = self._changes
            if self._read_changes == changes:
                return
            stored = await self.store.running()
            former = {running.agent.id: running for running in self._running.values()}
            self._running = {
                agent.slug: self._made(agent, levels, former.get(agent.id)) for agent, levels in stored
            }
            self._read_changes = changes  # what changed meanwhile is read again

    def _made(self, agent: Agent, levels: Mapping[str, Level], former: _Running | None) -> _Running:
        """An agent that did not change keeps its runner, and what that remembers."""
        if former is not None and former.agent == agent:
            return replace(former, levels=levels)
        rule = None
        if not agent.fault:
            try:
                rule = _usable_rule(agent.slug, agent.definition, trusted=agent.trusted)
            except BadAgent as error:
                log.error("an agent cannot be used: %s", error, extra={"agent": agent.id})
        return _Running(agent, levels, rule)

    def fault(self, definition: AgentDefinition, *, trusted: bool) -> Fault | None:
        try:
            _usable_rule("agent", definition, trusted=trusted)
        except BadAgent as error:
            return error.fault
        return None

    def rule_before(self, slug: str) -> int:
        rule = self.file.rule(Resource(ResourceKind.AGENT, slug, 0))
        return rule.line if rule else 0

    def recorded(self, agent: Agent) -> tuple[Downstream, Sequence[AgentExchange]]:
        try:
            rule = _usable_rule(agent.slug, agent.definition, trusted=agent.trusted)
        except BadAgent as error:
            raise Invalid.of([error.fault]) from None
        recorder = Recorder(self.runners.http, written_forms(rule.target))
        runner = _built(agent, rule, replace(self.runners, http=recorder))
        return RecordedRun(runner, recorder, rule), recorder.exchanges

    async def poll_task(self, task: AgentTask, owner: str) -> RunResult | None:
        """`ports.resources.PollTask`: asks the A2A agents of the file's rules and of stored agents. Raises
        `DownstreamFailed`, also where no A2A agent is behind the resource any more, and `Unavailable`."""
        rule, runners = self.file.rule(task.resource), self.runners
        if rule is None and (stored := await self.rule(task.resource, owner)):
            agent, rule = stored
            runners = _of_agent(agent, runners)
        if rule is None or not isinstance(rule.target, A2aTarget):
            raise DownstreamFailed(f"no A2A agent is behind {task.resource} any more", retryable=False)
        return await a2a_runner(runners.for_target(rule.target), rule.target).poll(task)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """Runs an agent for a test; no secret is in its answer. gRPC calls are kept here: they use no HTTP port."""

    inner: Downstream
    recorder: Recorder
    rule: Rule

    async def run(self, request: RunRequest) -> RunResult:
        target, error, status = self.rule.target, "", 0
        try:
            result = await self.inner.run(request)
            status = 200
            return replace(result, text=self.recorder.clean(result.text))
        except DownstreamFailed as failed:
            error = self.recorder.clean(str(failed))
            raise DownstreamFailed(error, retryable=failed.retryable, begun=failed.begun) from None
        finally:
            if isinstance(target, GrpcTarget):
                self.recorder.keep_call(target.target, request_json(request), status, error)


def _of_agent(agent: Agent, runners: Runners) -> Runners:
    """The outbound address policy applies to all addresses of an agent that is not trusted."""
    return runners if agent.trusted else replace(runners, http=UserAddresses(runners.http))


def _built(agent: Agent, rule: Rule, runners: Runners) -> Downstream:
    runner, policy = _of_agent(agent, runners).build(rule), agent.definition.approval_policy
    return AsOwner(UnderPolicy(runner, policy) if policy else runner, agent.owner)


def _usable_rule(slug: str, definition: AgentDefinition, *, trusted: bool) -> Rule:
    """Raises `BadAgent`."""
    rule = rule_of_agent(slug, definition)
    if isinstance(rule.target, GrpcTarget) and not trusted:
        raise BadAgent("kind", NEEDS_TRUST)
    return rule
