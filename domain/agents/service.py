"""Agents of users: set up, shared, tested."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import Grantee, Level, Permission, checked_level, needs, require
from domain.agents import model
from domain.agents.model import Agent, AgentChange, AgentDefinition, AgentTest, AgentView
from domain.audit.model import Action
from domain.confirmations.policy_check import ApproverCheck
from domain.knowledge.bases import BaseAccess
from domain.paging import Page, checked_limit
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound
from domain.routing.model import Resource, ResourceKind
from domain.routing.resource import parse_resource
from domain.routing.trials import TrialService
from ports.agents import AgentRunners, AgentStore
from ports.audit import Audit

MOST_SLUGS = 100
"""Numbers that are tried behind a slug that is taken."""
MOST_TRIES = 10
"""Of a change, where others change the agent at the same time."""
MOST_NAMED = 10
"""Instances that an error names."""


@dataclass(eq=False)
class AgentBinding:
    """Checks that the owner of an instance may use the agents that it is bound to."""

    store: AgentStore

    async def check(self, owner: str, resources: Mapping[str, str]) -> None:
        """Raises `Invalid` for the agent of another user who has not shared it. `resources`: ids by their fields."""
        for field, resource_id in resources.items():
            slug = model.slug_of(parse_resource(resource_id))
            agent = await self.store.of_slug(slug, owner) if slug else None
            if agent is not None and agent.level < Level.READ:
                what = f"names an agent that is not shared with {owner}; ask its owner for level 1 (READ)"
                raise Invalid.of([Fault(field, what)])


class TooManyAgents(Conflict):
    """The user has as many agents as one may have."""


class ChangedMeanwhile(Exception):
    """Somebody else changed the agent since it was read."""


@dataclass(eq=False)
class AgentService:
    """Agents that users set up. Each method with an id raises `NotFound`, and `Forbidden` for too low a level: READ
    to see an agent, to bind instances to it and to test it, UPDATE to see and change its settings, DELETE to share
    and delete it."""

    store: AgentStore
    runners: AgentRunners
    bases: BaseAccess
    trials: TrialService
    approvers: ApproverCheck
    audit: Audit

    @needs(Scope.INSTANCES_READ, Scope.AGENTS_WRITE)
    async def list(self, caller: Caller, cursor: int, limit: int) -> Page[AgentView, int]:
        """Those that the caller may READ; for an admin all."""
        most = checked_limit(limit) + 1
        if caller.is_admin:
            agents = await self.store.all(cursor, most)
        else:
            agents = await self.store.of_user(caller.user_id, cursor, most)
        shown = [self._shown(agent) for agent in agents[:limit]]
        return Page(shown, shown[-1].id if len(agents) > limit else None)

    @needs(Scope.INSTANCES_READ, Scope.AGENTS_WRITE)
    async def get(self, caller: Caller, agent_id: int) -> AgentView:
        return self._shown(await self._require(caller, agent_id, Level.READ))

    @needs(Scope.AGENTS_WRITE)
    async def create(self, caller: Caller, new: AgentChange) -> AgentView:
        """Raises `Invalid`, `Forbidden` for a responder, and `Conflict` where the resource id is taken or bound, or
        for too many agents."""
        owner = caller.user
        caller.require_member("agents")
        name = _checked_name(new.name)
        slug = None if new.resource_id is None else _checked_slug(new.resource_id)
        definition = await self._changed(caller, owner, AgentDefinition(), new)
        if slug is not None:
            return self._shown(await self._add(caller, owner, slug, name, definition))
        return self._shown(await self._add_named(caller, owner, name, definition))

    async def _add(
        self, caller: Caller, owner: str, slug: str, name: str, definition: AgentDefinition
    ) -> Agent:
        readers = await self._readers(caller, owner, slug)
        async with self.audit.change(caller, Action.AGENT_CREATED, "agent", {"name": name}) as details:
            agent = await self.store.add(owner, slug, name, definition, readers, model.MOST_AGENTS)
            if agent is None:
                raise TooManyAgents(
                    f"there are {model.MOST_AGENTS} agents already; delete one that is not used"
                )
            details.update(object=f"agent:{agent.id}", after=_audited(name, slug, definition))
        return agent

    async def _add_named(self, caller: Caller, owner: str, name: str, definition: AgentDefinition) -> Agent:
        """Under the first slug of this name that is free."""
        for number in range(1, MOST_SLUGS):
            try:
                return await self._add(caller, owner, model.slug_for(name, number), name, definition)
            except TooManyAgents:
                raise
            except Conflict:
                continue
        raise Conflict("there are too many agents of this name; give a resourceId, or another name")

    async def _readers(self, caller: Caller, owner: str, slug: str) -> set[str]:
        """The other users whose instances are bound to the id already, behind DOWNSTREAM_URL. Their messages must not
        come to somebody else unless an admin says so. Raises `Conflict`."""
        if line := self.runners.rule_before(slug):
            raise Conflict(
                f"resourceId: line {line} of RESOURCES_FILE takes agent::{slug} first; choose another id"
            )
        readers = {user for _, user in await self.store.bound(slug) if user != owner}
        if readers and not caller.is_admin:
            raise Conflict(f"resourceId: instances of others are bound to agent::{slug}; choose another id")
        return readers

    @needs(Scope.AGENTS_WRITE)
    async def update(self, caller: Caller, agent_id: int, change: AgentChange) -> AgentView:
        """Takes effect in all processes at once. Trust ends where somebody who is no admin changes an address.

        Raises `Invalid`, and `Conflict` where the resource id is taken or instances are bound to the former one.
        """
        for _ in range(MOST_TRIES):
            agent = await self._require(caller, agent_id, Level.UPDATE)
            try:
                await self._change(caller, agent, change)
            except ChangedMeanwhile:
                continue
            return self._shown(await self._require(caller, agent_id, Level.UPDATE))
        raise Conflict(f"agent {agent_id} is changed by others at the same time; try again")

    async def _change(self, caller: Caller, agent: Agent, change: AgentChange) -> None:
        """Raises `ChangedMeanwhile` if somebody else changed the agent."""
        name = agent.name if change.name is None else _checked_name(change.name)
        slug = agent.slug if change.resource_id is None else _checked_slug(change.resource_id)
        if slug != agent.slug:
            await self._check_unbound(agent)
            if await self._readers(caller, agent.owner, slug):
                raise Conflict(
                    f"resourceId: instances of others are bound to agent::{slug}; choose another id"
                )
        before = agent.definition
        definition = await self._changed(caller, agent.owner, before, change)
        has_moved = model.addresses(definition) != model.addresses(before)
        ends_trust = agent.trusted and has_moved and not caller.is_admin
        old, new = _audited(agent.name, agent.slug, before), _audited(name, slug, definition)
        data = {
            "before": {field: old[field] for field in old if old[field] != new[field]},
            "after": {field: new[field] for field in old if old[field] != new[field]},
        }
        if definition.secret != before.secret:
            data["after"] |= {"secret": "changed"}
        async with self.audit.change(caller, Action.AGENT_CHANGED, f"agent:{agent.id}", data):
            if not await self.store.change(agent, name, slug, definition, ends_trust=ends_trust):
                raise ChangedMeanwhile

    @needs(Scope.AGENTS_WRITE)
    async def delete(self, caller: Caller, agent_id: int) -> None:
        """Raises `Conflict` while instances are bound to it."""
        agent = await self._require(caller, agent_id, Level.DELETE)
        await self._check_unbound(agent)
        data = {"name": agent.name, "resourceId": agent.resource_id}
        async with self.audit.change(caller, Action.AGENT_DELETED, f"agent:{agent_id}", data):
            await self.store.remove(agent_id)

    async def _check_unbound(self, agent: Agent) -> None:
        if bound := await self.store.bound(agent.slug):
            names = ", ".join(str(instance_id) for instance_id, _ in bound[:MOST_NAMED])
            more = f" and {len(bound) - MOST_NAMED} more" if len(bound) > MOST_NAMED else ""
            raise Conflict(
                f"instances are bound to {agent.resource_id}: {names}{more}; bind them to another resource first"
            )

    @needs(Scope.AGENTS_WRITE)
    async def set_trusted(self, caller: Caller, agent_id: int, *, trusted: bool) -> AgentView:
        """Lets an agent call addresses that the outbound policy forbids, such as one in the network of the service.
        Raises `Forbidden` for callers who are no admins."""
        if not caller.is_admin:
            raise Forbidden("only an admin may mark an agent as trusted")
        agent = await self._require(caller, agent_id, Level.DELETE)
        data = {"trusted": trusted}
        async with self.audit.change(caller, Action.AGENT_TRUSTED, f"agent:{agent_id}", data):
            await self.store.set_trusted(agent_id, trusted=trusted)
        return self._shown(replace(agent, trusted=trusted))

    @needs(Scope.AGENTS_WRITE)
    async def test(self, caller: Caller, agent_id: int, text: str) -> AgentTest:
        """Asks the agent, and tells what was sent and what came back. The calls are shown to callers with UPDATE.

        Raises `Invalid`, `TooMany` (trials are under way).
        """
        agent = await self._require(caller, agent_id, Level.READ)
        downstream, exchanges = self.runners.recorded(agent)
        resource = Resource(ResourceKind.AGENT, agent.slug, 0)
        answer = await self.trials.ask(caller, resource, text, downstream)
        prices, usage = agent.definition.prices, answer.usage
        cost = prices.cost(usage) if prices and usage else None
        return AgentTest(answer, list(exchanges) if agent.level >= Level.UPDATE else [], cost)

    @needs(Scope.AGENTS_WRITE)
    async def permissions(self, caller: Caller, agent_id: int) -> Sequence[Permission]:
        """Needs DELETE."""
        await self._require(caller, agent_id, Level.DELETE)
        return await self.store.permissions(agent_id)

    @needs(Scope.AGENTS_WRITE)
    async def set_permission(self, caller: Caller, agent_id: int, grantee: Grantee, level: int) -> None:
        """Needs DELETE; level 0 revokes. Raises `Invalid`."""
        agent = await self._require(caller, agent_id, Level.DELETE)
        granted = checked_level("level", level)
        grantee.check()
        if grantee.user_id == agent.owner and level != Level.DELETE:
            raise Invalid.of([Fault("level", "the owner of an agent keeps level 3")])
        data = {"grantee": str(grantee), "level": granted.name}
        async with self.audit.change(caller, Action.AGENT_SHARED, f"agent:{agent_id}", data):
            if not await self.store.grant(agent_id, grantee, granted):
                raise grantee.unknown()

    async def _require(self, caller: Caller, agent_id: int, needed: Level) -> Agent:
        agent = await self.store.find(agent_id, caller.user_id)
        if agent is None:
            raise NotFound(f"there is no agent {agent_id}")
        if caller.is_admin:
            agent = replace(agent, level=Level.DELETE)
        require(agent.level, needed)
        return agent

    async def _changed(
        self, caller: Caller, owner: str, before: AgentDefinition, change: AgentChange
    ) -> AgentDefinition:
        """Raises `Invalid`."""
        if change.secret is not None and (fault := _secret_fault(change.secret)):
            raise Invalid.of([Fault("secret", fault)])
        definition = model.changed(before, change)
        if not isinstance(definition, AgentDefinition):
            raise Invalid.of(definition)
        await self.approvers.check(change.approval_policy)
        if wrong := self.runners.fault(definition, trusted=True):
            raise Invalid.of([wrong])
        # An agent reads bases with the rights of its owner. Who names one must be able to read it as well.
        added = set(definition.knowledge) - set(before.knowledge)
        users = {owner} if caller.is_admin else {owner, caller.user_id}
        for user in sorted(users) if added else ():
            readable = {base.id for base in await self.bases.readable(user, sorted(added))}
            if missing := sorted(added - readable):
                raise Invalid.of([Fault("knowledge", f"names base {missing[0]}, which {user} may not read")])
        return definition

    def _shown(self, agent: Agent) -> AgentView:
        """With what stands in its way."""
        fault = agent.fault
        if not fault and (wrong := self.runners.fault(agent.definition, trusted=agent.trusted)):
            fault = str(wrong)
        if not fault and (line := self.runners.rule_before(agent.slug)):
            fault = f"line {line} of RESOURCES_FILE takes {agent.resource_id} first"
        return model.view_of(agent, fault)


def _audited(name: str, slug: str, definition: AgentDefinition) -> dict[str, Any]:
    """An agent as the audit log tells it: without secrets."""
    return {
        "name": name,
        "resourceId": f"agent::{slug}",
        "kind": definition.kind,
        "settings": dict(definition.settings),
        "knowledge": list(definition.knowledge),
        "tools": [dict(tool.settings) for tool in definition.tools],
        "mcpServers": [dict(server.settings) for server in definition.mcp_servers],
        "prices": definition.prices and asdict(definition.prices),
        "approvalPolicy": [asdict(rule) for rule in definition.approval_policy],
    }


def _checked_name(name: str | None) -> str:
    if name is None or not name.strip():
        raise Invalid.of([Fault("name", "is required: what people call the agent")])
    return limits.check_text("name", name, limits.BASE_NAME).strip()


def _checked_slug(resource_id: str) -> str:
    slug = model.checked_slug(resource_id)
    if isinstance(slug, Fault):
        raise Invalid.of([slug])
    return slug


def _secret_fault(secret: str) -> str | None:
    if len(secret) > model.MAX_SECRET:
        return f"must be at most {model.MAX_SECRET} characters"
    if not secret.isascii() or not (secret.isprintable()):
        return "must hold printable ASCII characters alone, as it is sent in a header"
    return None
