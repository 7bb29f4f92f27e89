"""People: a store of who writes in conversations, and of requests under privacy law."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from domain.paging import Page
from domain.people.model import (
    PeopleFilter,
    PeopleScope,
    Person,
    PersonChange,
    PrivacyRequest,
    RequestKind,
    SeenSender,
    Split,
    StoredSender,
)
from ports.files import StoredBlob


class PeopleStore(Protocol):
    """People, each of one owner."""

    async def list(
        self, scope: PeopleScope, wanted: PeopleFilter, limit: int, cursor: str | None
    ) -> Page[Person, str]:
        """The latest first. Raises `Invalid` for an unknown cursor."""

    async def find(self, person_id: int, instances: Sequence[int] | None = None) -> Person | None:
        """None also for one who is being erased. `instances`: as what they have there alone shows them."""

    async def instance_ids(self, person_id: int) -> Sequence[int]:
        """Those that the person has conversations in."""

    async def change(self, person_id: int, change: PersonChange) -> bool:
        """False where the person is gone."""

    async def merge(self, person_id: int, others: Sequence[int]) -> bool:
        """Gives a person all that others have. False where one of them is gone."""

    async def split(self, person_id: int, split: Split) -> int | None:
        """Makes a new person of a part of one; its id. None where the person has nothing of it, or nothing else.
        Neither of both is joined with anybody by itself any more."""


class SeenSenders(Protocol):
    """The senders of stored events, in the order of the events."""

    async def claim(self) -> int | None:
        """The position behind which events are to be looked at; None if another process looks just now."""

    async def following(self, position: int) -> tuple[Sequence[StoredSender], int | None, int | None]:
        """The senders of the next events but for those who are known and of whom the event tells nothing new; up to
        which position nothing is added any more; and the position behind these events, None if there are no more."""

    async def advance(self, position: int) -> None:
        """Nobody has to look at the events up to this position again."""

    async def record(self, seen: SeenSender) -> None:
        """Gives the sender a person: the one that has the sender, or one of their identities, or their user; else a
        new one. Several of them become one. Nothing is recorded of an event that was erased."""


class LeaseLost(Exception):
    """Another process works on a request, or it was ended."""


class PrivacyRequestStore(Protocol):
    """Requests. A process works on one under a lease of 30 seconds; the methods with a request that was taken raise
    `LeaseLost` once another process has it or it was ended."""

    async def add(self, person_id: int, kind: RequestKind, user_id: str) -> PrivacyRequest | None:
        """The open request of this kind, or a new one. With an erasure the exports of the person end, and nothing is
        joined with the person any more. None where the person is gone."""

    async def find(self, request_id: int) -> PrivacyRequest | None: ...

    async def latest_erasure(self, person_id: int) -> PrivacyRequest | None: ...

    async def list(self, owner: str | None, limit: int, cursor: str | None) -> Page[PrivacyRequest, str]:
        """The latest first. Raises `Invalid` for an unknown cursor."""

    async def take(self) -> PrivacyRequest | None:
        """Leases the next one that is due."""

    async def renew(self, request: PrivacyRequest, done: int | None = None) -> None:
        """Prolongs the lease, and notes how many conversations are done."""

    async def attach(self, request: PrivacyRequest, blob: StoredBlob) -> None:
        """Notes the file of an export, in place of that of an earlier run."""

    async def finish(self, request: PrivacyRequest) -> None: ...

    async def retry(self, request: PrivacyRequest, error: str) -> None:
        """Tries it later, or gives it up after several failures."""


class PersonEraser(Protocol):
    async def erase(self, person_id: int, report: Callable[[], Awaitable[None]]) -> None:
        """Erases all conversations of a person, and the person. Calls `report` after each conversation. What an
        earlier call erased is erased."""


class PersonExporter(Protocol):
    async def export(self, request: PrivacyRequest, report: Callable[[], Awaitable[None]]) -> None:
        """Writes all that is on record of a person into a stored ZIP, and attaches it. Calls `report` after each
        conversation. Raises `StorageFull`, `NotFound`, `LeaseLost`."""
