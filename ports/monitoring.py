"""The stores behind the pages of operators: dead letters, instances, figures, findings."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from domain.conversations.model import Direction, Message, MessageId
from domain.instances.model import Instance
from domain.monitoring.model import DeadPart, Finding, InstanceName, Period


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
