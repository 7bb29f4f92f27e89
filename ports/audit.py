"""The audit log: who changed what."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Protocol

from domain.access.model import Caller
from domain.audit.model import Action, AuditEntry, AuditFilter, Result

Details = dict[str, Any]
"""What an entry tells of a change, as JSON."""


class Audit(Protocol):
    """Adds entries."""

    def change(
        self, caller: Caller, action: Action, subject: str, data: Mapping[str, Any] | None = None
    ) -> AbstractAsyncContextManager[Details]:
        """Stores what the block changes and an entry about it in one transaction: both or none.

        `subject`: what is changed, such as "instance:7". Gives the details of the entry, to which the block adds;
        "object" among them replaces `subject`, as for an id that the block makes. Calls of platforms do not belong
        into the block: other changes wait for its end.
        """
        ...

    async def note(
        self,
        caller: Caller,
        action: Action,
        subject: str,
        data: Mapping[str, Any] | None = None,
        result: Result = Result.DONE,
    ) -> None:
        """Adds an entry about what changes nothing that is stored, such as a wrong sign-in."""
        ...


class AuditLog(Protocol):
    """Reads and prunes entries."""

    async def list(self, wanted: AuditFilter, before: int | None, limit: int) -> Sequence[AuditEntry]:
        """The latest first; with ids under `before` where it is given."""
        ...

    def chain(self) -> AsyncIterator[AuditEntry]:
        """All entries, the oldest first."""
        ...

    async def prune(self, older_than: datetime) -> int:
        """Removes entries of that age, and adds one that names the last of them; how many."""
        ...
