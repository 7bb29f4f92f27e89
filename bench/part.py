"""What a part of the bench is given."""

from dataclasses import dataclass

from bench.database import Database
from bench.report import Report


@dataclass(frozen=True)
class Bench:
    """`quick` is one short round, which only checks that the bench works."""

    database: Database
    report: Report
    rounds: int
    quick: bool = False
