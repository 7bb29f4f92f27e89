"""The stores behind the pages of operators: figures, reports, findings."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from domain.monitoring.model import Finding, Period
from domain.paging import Page
from domain.reports.model import Dimension, ReportKey


class FigureStore(Protocol):
    async def measures(
        self, period: Period, instance_ids: Sequence[int] | None
    ) -> tuple[datetime, Mapping[datetime, Mapping[int, int]]]:
        """Until when it was counted, and what was counted in each step of the period that ends then. None: of all
        instances."""


class ReportStore(Protocol):
    async def counts(
        self,
        by: Collection[Dimension],
        days: tuple[date, date],
        instance_ids: Sequence[int] | None,
        limit: int,
        cursor: str | None,
    ) -> Page[tuple[ReportKey, Mapping[int, int]], str]:
        """What was counted from the first of the days to the last, summed up by `by`, in the order of the keys.
        `instance_ids`: None for all."""


class Installation(Protocol):
    async def findings(self) -> Sequence[Finding]: ...
