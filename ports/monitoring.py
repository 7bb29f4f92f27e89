"""What operators look at: the use cases, and what is on record for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.access.model import Caller
from domain.conversations.model import Direction, Message, MessageId
from domain.instances.model import Instance
from domain.monitoring.model import (
    DeadLetter,
    DeadLetterId,
    DeadLetterView,
    DeadPart,
    Figures,
    Finding,
    InstanceName,
    InstanceState,
    ItemResult,
    Period,
)
from domain.paging import Page


class DeadLetters(Protocol):
    """Messages of both directions that were given up, over all instances of a caller (an admin's: of everybody)."""

    async def list(
        self,
        caller: Caller,
        instance_id: int | None,
        direction: Direction | None,
        limit: int,
        cursor: str | None,
    ) -> Page[DeadLetter, str]:
        """The latest first; of one instance and one direction where they are given. Raises `NotFound`, `Forbidden`,
        `Invalid`."""
        ...

    async def get(self, caller: Caller, dead_letter: DeadLetterId) -> DeadLetterView:
        """Raises `NotFound`, `Forbidden`."""
        ...

    async def replay(self, caller: Caller, dead_letters: Sequence[DeadLetterId]) -> Sequence[ItemResult]:
        """Has each processed or sent again. Raises `Invalid` for too many."""
        ...

    async def drop(self, caller: Caller, dead_letters: Sequence[DeadLetterId]) -> Sequence[ItemResult]:
        """Gives each up for good. Raises `Invalid` for too many."""
        ...


class HealthOverview(Protocol):
    async def list(
        self, caller: Caller, limit: int, cursor: str | None, *, failing: bool = False
    ) -> Page[InstanceState, str]:
        """The state of the caller's instances (an admin's: of all), ordered by id; `failing`: only of those that are
        not healthy. Raises `Invalid`."""
        ...


class FigureReport(Protocol):
    async def figures(self, caller: Caller, period: Period, instance_id: int | None) -> Figures:
        """Of the caller's instances (an admin's: of all), or of one. Raises `NotFound`, `Forbidden`."""
        ...


class Doctor(Protocol):
    async def findings(self, caller: Caller) -> Sequence[Finding]:
        """What the installation lacks and how to mend it. Raises `Forbidden` for all but admins."""
        ...


class DeadLetterStore(Protocol):
    async def page(
        self, instance_ids: Sequence[int], direction: Direction | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[tuple[int, Message]], str | None]:
        """Messages that were given up with the ids of their instances, the latest first; and the next cursor."""
        ...

    async def parts(self, instance_id: int, message: MessageId) -> Sequence[DeadPart]: ...

    async def drop(self, instance_id: int, message: MessageId) -> bool:
        """False where it is not given up."""
        ...


class InstanceNames(Protocol):
    """Instances without their configurations, and pages of whole ones. `user_id` None: of all users."""

    async def names(self, user_id: str | None) -> Sequence[InstanceName]: ...

    async def following(self, user_id: str | None, after: int, limit: int) -> Sequence[Instance]:
        """Those with ids over `after`, in their order."""
        ...


class FigureStore(Protocol):
    async def measures(
        self, period: Period, instance_ids: Sequence[int] | None
    ) -> tuple[datetime, Mapping[datetime, Mapping[int, int]]]:
        """Until when it was counted, and what was counted in each step of the period that ends then. None: of all
        instances."""
        ...


class Installation(Protocol):
    async def findings(self) -> Sequence[Finding]: ...


@dataclass(frozen=True, slots=True)
class Monitoring:
    """What operators look at."""

    dead_letters: DeadLetters
    health: HealthOverview
    figures: FigureReport
    doctor: Doctor
