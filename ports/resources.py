"""What stands behind resource ids, for people."""

from typing import Protocol

from domain.access.model import Caller
from domain.routing.model import Resource, ResourceRule, ResourceRules, ResourceTrial


class Resources(Protocol):
    """The rules in force, and trials."""

    async def rules(self, caller: Caller) -> ResourceRules:
        """Raises `Forbidden` for anybody but an admin."""
        ...

    async def try_out(self, caller: Caller, resource_id: str, text: str, *, ask: bool) -> ResourceTrial:
        """Finds what takes an id, and with `ask` asks it for real.

        Raises `Invalid`, `TooMany` (trials are under way).
        """
        ...


class ResourceDirectory(Protocol):
    """The rules in force of this process."""

    def rules(self) -> ResourceRules: ...

    def find(self, resource: Resource) -> ResourceRule | None:
        """What takes it: the first rule that fits, the built-in, or the default."""
        ...
