"""Knowledge bases and who may use them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.access.model import Caller, Role, Scope
from domain.access.sharing import Grantee, Level, Permission, checked_level, needs, require
from domain.audit.model import Action
from domain.knowledge import rules
from domain.knowledge.maintenance import Retention
from domain.knowledge.model import Base, BaseChange, NewBase, ReadPolicy
from domain.refusals import Fault, Forbidden, Invalid, NotFound
from ports.audit import Audit
from ports.knowledge_storage import BaseStore

LARGEST_ID = 2**31 - 1


@dataclass(eq=False)
class BaseAccess:
    """Finds a base and checks what the caller may do with it.

    `policy`: of the reads that the interface documents (list of files, file, download, chunks, search). `of_others`:
    of all other reads (sources, questions, states of files, texts, explanations).
    """

    bases: BaseStore
    policy: ReadPolicy
    of_others: ReadPolicy

    async def require(self, caller: Caller, base_id: int, needed: Level) -> Base:
        """The base. Raises `NotFound`, `Forbidden`."""
        base = await self._find(caller, base_id)
        require(base.level or Level.NONE, needed)
        return base

    async def inside(self, caller: Caller, base_id: int, *, documented: bool = False) -> Base:
        """The base, for reading what is in it. Raises `NotFound`, and `Forbidden` under the strict policy and for
        responders. `documented`: the interface documents this read."""
        base = await self._find(caller, base_id)
        if self._is_strict(caller, documented) and (base.level or Level.NONE) < Level.READ:
            raise Forbidden("Forbidden")
        return base

    async def readable(self, user_id: str, base_ids: Sequence[int]) -> Sequence[Base]:
        """Those of the bases that the user may READ. Others are left out, as those that do not exist."""
        possible = [base_id for base_id in base_ids if 0 < base_id <= LARGEST_ID]
        bases = await self.bases.of_user(user_id, possible) if possible else []
        return [base for base in bases if (base.level or Level.NONE) >= Level.READ]

    def only_readable(self, caller: Caller, *, documented: bool = False) -> bool:
        """True if files and chunks are shown to this caller only where it has READ."""
        return self._is_strict(caller, documented) and not caller.is_admin

    def _is_strict(self, caller: Caller, documented: bool) -> bool:
        """Responders read only what is shared with them, whatever the policy."""
        policy = self.policy if documented else self.of_others
        return policy is ReadPolicy.STRICT or caller.role is Role.RESPONDER

    async def _find(self, caller: Caller, base_id: int) -> Base:
        base = await self.bases.find(base_id, caller.user_id) if 0 < base_id <= LARGEST_ID else None
        if base is None:
            raise NotFound(rules.NO_BASE)
        # An admin may do everything everywhere.
        return replace(base, level=Level.DELETE if caller.is_admin else base.level or Level.NONE)


@dataclass(eq=False)
class BasesService:
    """Bases and who may use them. An unknown base is `NotFound`, too low a level `Forbidden`."""

    bases: BaseStore
    access: BaseAccess
    retention: Retention
    audit: Audit
    memory_sync: bool

    @needs(Scope.KNOWLEDGE_READ)
    async def list(self, caller: Caller) -> Sequence[Base]:
        """Those that the caller may access, with the caller's level."""
        if caller.is_admin:
            return [replace(base, level=Level.DELETE) for base in await self.bases.all()]
        return await self.bases.of_user(caller.user_id)

    @needs(Scope.KNOWLEDGE_WRITE)
    async def create(self, caller: Caller, new: NewBase) -> Base:
        """Raises `Invalid` for an empty name, `Forbidden` for a responder."""
        owner = caller.user
        caller.require_member("knowledge bases")
        rules.check_description(new.description)
        rules.check_manifest(new.manifest)
        new = replace(new, name=rules.check_name(new.name))
        async with self.audit.change(caller, Action.BASE_CREATED, "base", {"name": new.name}) as details:
            base = await self.bases.add(owner, new)
            details["object"] = f"base:{base.id}"
        return base

    @needs(Scope.KNOWLEDGE_READ, Scope.KNOWLEDGE_WRITE)
    async def get(self, caller: Caller, base_id: int) -> Base:
        """Needs READ."""
        return await self.access.require(caller, base_id, Level.READ)

    @needs(Scope.KNOWLEDGE_WRITE)
    async def update(self, caller: Caller, base_id: int, change: BaseChange) -> None:
        """Needs UPDATE. Raises `Invalid` for an empty name."""
        await self.access.require(caller, base_id, Level.UPDATE)
        if change.name is not None:
            change = replace(change, name=rules.check_name(change.name))
        rules.check_description(change.description or "")
        data = {"name": change.name, "description": change.description}
        data = {field: text for field, text in data.items() if text is not None}
        async with self.audit.change(caller, Action.BASE_CHANGED, f"base:{base_id}", {"after": data}):
            if not await self.bases.change(base_id, change):
                raise NotFound(rules.NO_BASE)

    @needs(Scope.KNOWLEDGE_WRITE)
    async def delete(self, caller: Caller, base_id: int) -> None:
        """Needs DELETE. Removes the base, its files, their chunks and, when set so, its memory nodes."""
        base = await self.access.require(caller, base_id, Level.DELETE)
        await self.bases.drop_indexes(base_id)
        data = {"name": base.name, "owner": base.created_by}
        async with self.audit.change(caller, Action.BASE_DELETED, f"base:{base_id}", data):
            blobs = await self.bases.remove(base_id, sync_memory=self.memory_sync)
            if blobs is None:
                raise NotFound(rules.NO_BASE)
        await self.retention.delete_unreferenced(blobs)

    @needs(Scope.KNOWLEDGE_READ)
    async def permissions(self, caller: Caller, base_id: int) -> Sequence[Permission]:
        """Needs DELETE."""
        await self.access.require(caller, base_id, Level.DELETE)
        return await self.bases.permissions(base_id)

    @needs(Scope.KNOWLEDGE_WRITE)
    async def set_permission(self, caller: Caller, base_id: int, grantee: Grantee, level: int) -> None:
        """Needs DELETE; level 0 revokes. Raises `Invalid`."""
        base = await self.access.require(caller, base_id, Level.DELETE)
        granted = checked_level("permission_level", level)
        grantee.check()
        # A base must not be left without anybody who may delete it.
        if grantee.user_id == base.created_by and level != Level.DELETE:
            raise Invalid.of([Fault("permission_level", "the creator of a knowledge base keeps level 3")])
        data = {"grantee": str(grantee), "level": granted.name}
        async with self.audit.change(caller, Action.BASE_SHARED, f"base:{base_id}", data):
            if not await self.bases.grant(base_id, grantee, granted):
                raise grantee.unknown()
