"""Reads the audit log, and checks that nobody changed it."""

from dataclasses import dataclass

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import needs
from domain.audit.model import Action, AuditEntry, AuditFilter, chain_fault
from domain.paging import Page, checked_limit
from domain.refusals import Fault, Invalid
from ports.audit import AuditLog


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """`fault`: what is wrong at `entry`, the first one that is; empty where the chain is whole, and `entry` the last
    one of it (None: there are no entries). `expected`: the entry that was looked for."""

    count: int
    entry: AuditEntry | None
    fault: str = ""
    expected: AuditEntry | None = None


@dataclass(eq=False)
class AuditService:
    log: AuditLog

    @needs(Scope.ADMIN)
    async def list(
        self, caller: Caller, wanted: AuditFilter, limit: int, cursor: int
    ) -> Page[AuditEntry, int]:
        """The latest first. `cursor`: 0 for the first page. Raises `Forbidden` for all but admins, `Invalid`."""
        caller.require_admin("reads the audit log")
        texts = {"actor": wanted.actor, "action": wanted.action, "object": wanted.object}
        faults = [(field, limits.text_fault(text, limits.USER_ID)) for field, text in texts.items()]
        if wrong := [Fault(field, fault) for field, fault in faults if fault]:
            raise Invalid.of(wrong)
        entries = await self.log.list(wanted, cursor or None, checked_limit(limit) + 1)
        return Page(entries[:limit], entries[limit - 1].id if len(entries) > limit else None)

    async def verify(self, expected_id: int | None = None) -> ChainCheck:
        """Goes over the whole log; `expected_id`: of an entry that is to be found on the way."""
        first: AuditEntry | None = None
        before: AuditEntry | None = None
        expected: AuditEntry | None = None
        count, pruned = 0, None
        async for entry in self.log.chain():
            count += 1
            if before is not None and (fault := chain_fault(entry, before, None)):
                return ChainCheck(count, entry, fault)
            if entry.action == Action.AUDIT_PRUNED:
                pruned = bytes.fromhex(str(entry.data.get("hash", "")))
            if entry.id == expected_id:
                expected = entry
            first, before = first or entry, entry
        if first is not None and (fault := chain_fault(first, None, pruned)):
            return ChainCheck(count, first, fault)
        return ChainCheck(count, before, expected=expected)
