"""The stores behind the pages of operators: figures, findings."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from domain.monitoring.model import Finding, Period


class FigureStore(Protocol):
    async def measures(
        self, period: Period, instance_ids: Sequence[int] | None
    ) -> tuple[datetime, Mapping[datetime, Mapping[int, int]]]:
        """Until when it was counted, and what was counted in each step of the period that ends then. None: of all
        instances."""


class Installation(Protocol):
    async def findings(self) -> Sequence[Finding]: ...
