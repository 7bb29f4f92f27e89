"""Stored agents: where they are kept, what their settings must be, and how they are tried."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from domain.access.sharing import Grantee, Level, Permission
from domain.agents.model import Agent, AgentDefinition, AgentExchange
from domain.refusals import Fault
from ports.resources import Downstream


class AgentStore(Protocol):
    """Agents and who may use them. A change notifies all processes. Every method raises `Unavailable`."""

    async def add(
        self,
        owner: str,
        slug: str,
        name: str,
        definition: AgentDefinition,
        readers: Collection[str],
        most: int,
    ) -> Agent | None:
        """The new agent, on which its owner has DELETE and the readers READ; None where the owner has `most` agents.
        Raises `Conflict` where the slug is taken."""

    async def find(self, agent_id: int, user_id: str) -> Agent | None:
        """The agent with the level of that user."""

    async def of_slug(self, slug: str, user_id: str) -> Agent | None:
        """The same by its slug."""

    async def of_user(self, user_id: str, after: int, limit: int) -> Sequence[Agent]:
        """Those that the user may READ, with ids over `after`, ordered by id."""

    async def all(self, after: int, limit: int) -> Sequence[Agent]:
        """Those of everybody, with DELETE."""

    async def running(self) -> Sequence[tuple[Agent, Mapping[str, Level]]]:
        """All agents, each with the levels of its users."""

    async def change(
        self, before: Agent, name: str, slug: str, definition: AgentDefinition, *, ends_trust: bool
    ) -> bool:
        """Return False if somebody changed the agent since it was read as `before`: nothing is stored. Raises
        `Conflict` where the slug is taken."""

    async def set_trusted(self, agent_id: int, *, trusted: bool) -> None: ...

    async def remove(self, agent_id: int) -> None: ...

    async def bound(self, slug: str) -> Sequence[tuple[int, str]]:
        """The instances that are bound to `agent::<slug>`, each with its owner."""

    async def permissions(self, agent_id: int) -> Sequence[Permission]: ...

    async def grant(self, agent_id: int, grantee: Grantee, level: Level) -> bool:
        """NONE revokes. False where the team or the agent is not there."""


class AgentRunners(Protocol):
    """What runs behind stored agents."""

    def fault(self, definition: AgentDefinition, *, trusted: bool) -> Fault | None:
        """The first fault of the settings, with the name that the field has in REST; None for usable settings."""

    def rule_before(self, slug: str) -> int:
        """The line of the rule of RESOURCES_FILE that takes the id of such an agent first; 0 without one."""

    def recorded(self, agent: Agent) -> tuple[Downstream, Sequence[AgentExchange]]:
        """What runs the agent, and the calls that it will have made, without secrets. Raises `Invalid` for an agent
        that cannot be used as it is stored."""
