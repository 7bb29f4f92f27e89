"""Exports and erasures of people, as privacy law asks for them: requested, and worked on in the background."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.files import StoredFiles
from domain.paging import Page, checked_limit
from domain.people.model import PrivacyRequest, RequestKind, RequestState
from domain.people.service import PeopleService, person_subject
from domain.refusals import INTERNAL, Forbidden, NotFound, Refusal, StorageAway
from ports.audit import Audit
from ports.files import SharedFile
from ports.persons import LeaseLost, PersonEraser, PersonExporter, PrivacyRequestStore
from ports.system import Clock

log = logging.getLogger(__name__)

ACTIONS = {RequestKind.EXPORT: Action.PERSON_EXPORTED, RequestKind.ERASE: Action.PERSON_ERASED}
ZIP = "application/zip"
RENEW_SECONDS = 10.0
"""Less than a third of a lease."""


@dataclass(eq=False)
class PrivacyService:
    """Requests for the people of a caller's instances, and those that the caller made; an admin's: for everybody's.
    They need MANAGE on all instances of the person."""

    people: PeopleService
    store: PrivacyRequestStore
    audit: Audit
    links: StoredFiles
    clock: Clock

    @needs(Scope.CONVERSATIONS_READ)
    async def export(self, caller: Caller, person_id: int) -> PrivacyRequest:
        """Has all that is on record of a person written into a ZIP. Repeats the request that is open. Raises
        `NotFound`, `Forbidden`."""
        await self.people.permitted(caller, person_id, InstanceLevel.MANAGE)
        return await self._add(caller, person_id, RequestKind.EXPORT)

    @needs(Scope.MESSAGES_SEND)
    async def erase(self, caller: Caller, person_id: int) -> PrivacyRequest:
        """Has all conversations of a person erased. For a person who is, or was, erased: that request. Raises
        `NotFound`, `Forbidden`."""
        earlier = await self.store.latest_erasure(person_id)
        if earlier and earlier.state is not RequestState.FAILED:
            return self._seen(caller, earlier)
        if earlier is None:
            await self.people.permitted(caller, person_id, InstanceLevel.MANAGE)
        else:
            self._seen(caller, earlier)
        return await self._add(caller, person_id, RequestKind.ERASE)

    @needs(Scope.CONVERSATIONS_READ)
    async def get(self, caller: Caller, request_id: int) -> PrivacyRequest:
        """Raises `NotFound`, `Forbidden`."""
        request = await self.store.find(request_id)
        if request is None:
            raise NotFound(f"there is no request {request_id}")
        return self._seen(caller, request)

    @needs(Scope.CONVERSATIONS_READ)
    async def list(self, caller: Caller, limit: int, cursor: str | None) -> Page[PrivacyRequest, str]:
        """The latest first. Raises `Invalid`."""
        page = await self.store.list(caller.scope, checked_limit(limit), cursor)
        return replace(page, items=[self._with_address(request) for request in page.items])

    async def _add(self, caller: Caller, person_id: int, kind: RequestKind) -> PrivacyRequest:
        async with self.audit.change(caller, ACTIONS[kind], person_subject(person_id)) as details:
            request = await self.store.add(person_id, kind, caller.user_id)
            if request is None:
                raise NotFound(f"there is no person {person_id}")
            details["request"] = request.id
        return request

    def _seen(self, caller: Caller, request: PrivacyRequest) -> PrivacyRequest:
        if not caller.may_act_for(request.owner) and caller.user_id != request.requested_by:
            raise Forbidden("the request belongs to another user")
        return self._with_address(request)

    def _with_address(self, request: PrivacyRequest) -> PrivacyRequest:
        """With the signed address of the file, until that is removed."""
        if request.blob_key is None or request.expires_at is None or request.expires_at <= self.clock.now():
            return request
        file = SharedFile(request.blob_key, f"person-{request.person_id}.zip", ZIP)
        return replace(request, url=self.links.address(file, request.expires_at))


@dataclass(eq=False)
class PrivacyWorker:
    """Works on requests. After the death of a process another one takes over: an erasure goes on
    where it was, an export begins anew."""

    store: PrivacyRequestStore
    eraser: PersonEraser
    exporter: PersonExporter

    async def work(self) -> None:
        """Works on the next request that is due."""
        request = await self.store.take()
        if request is None:
            return
        try:
            await self._while_leased(request)
        except StorageAway:
            raise
        except LeaseLost:
            log.info("request %d is worked on by another process, or was ended", request.id)
        except Refusal as refusal:
            await self.store.retry(request, refusal.message)
        except Exception:
            log.exception("request %d failed", request.id)
            await self.store.retry(request, INTERNAL)

    async def _while_leased(self, request: PrivacyRequest) -> None:
        """Works on a request as long as no other process has it, and it was not ended."""
        work = asyncio.create_task(self._run(request))
        try:
            while not (await asyncio.wait([work], timeout=RENEW_SECONDS))[0]:
                await self.store.renew(request)
            await work
        finally:
            work.cancel()
            await asyncio.wait([work])

    async def _run(self, request: PrivacyRequest) -> None:
        report = self._reporter(request)
        if request.kind is RequestKind.ERASE:
            await self.eraser.erase(request.person_id, report)
        else:
            await self.exporter.export(request, report)
        await self.store.finish(request)

    def _reporter(self, request: PrivacyRequest) -> Callable[[], Awaitable[None]]:
        done = request.done if request.kind is RequestKind.ERASE else 0

        async def report() -> None:
            nonlocal done
            done += 1
            await self.store.renew(request, min(done, request.total))

        return report
