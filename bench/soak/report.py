"""The report of a soak, in Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.soak.load import Load
from bench.soak.samples import Sample
from bench.soak.verdict import Row, files_at_rest, minutes, rows, tables

SATURATED = (
    "**The rate was not reached: the service or the machine is saturated, and the figures say nothing of half"
    " load.**"
)
WARM_UP = (
    "The first fifth of the time is left out as warm-up. Processor time per message may grow by 10 % more than the"
    " fixed computation does."
)


@dataclass(frozen=True)
class Outcome:
    """`lost` are acknowledged messages without an answer; `stored` counts rows by table; `at_rest` is before the load
    and a while after it."""

    load: Load
    samples: Sequence[Sample]
    at_rest: tuple[Sample, Sample]
    lost: set[int]
    stored: dict[str, int]
    minutes: float
    rate: float

    @property
    def doubled(self) -> int:
        return sum(count > 1 for number, count in self.load.stub.taken.items() if number >= 0)

    @property
    def rows(self) -> list[Row]:
        return [
            *rows(self.samples, self.load.acks, self.load.stub.latency),
            files_at_rest(*self.at_rest),
        ]

    @property
    def ok(self) -> bool:
        return not self.lost and not self.doubled and all(row.ok for row in self.rows)


def report(outcome: Outcome, machine: str, given: Sequence[str]) -> str:
    load, samples = outcome.load, outcome.samples
    answers = ", ".join(f"{count} x {name}" for name, count in sorted(load.answers.items()))
    how = (
        f"`python -m bench.soak --minutes {outcome.minutes:g} --rate {outcome.rate:g}`, {machine}. Everything in one"
        " process with the embedded database; two fifths Telegram, two fifths Slack, one fifth HTTP webhook, with"
        " uploads, deletions and searches beside. The load generator and the stubs share the machine."
    )
    counts = (
        f"{len(load.acknowledged)} messages acknowledged, {len(outcome.lost)} lost, {outcome.doubled} answered"
        f" twice, {load.stub.refused} replies refused with 429 and sent again; {load.late} sent late. Answers:"
        f" {answers}."
    )
    return "\n".join(
        [
            "# Soak",
            "",
            f"{how} Settings: {', '.join(given)}." if given else how,
            "",
            counts,
            "",
            *([SATURATED, ""] if load.late else []),
            "| Figure | First half | Second half | At most | |",
            "|---|---|---|---|---|",
            *(
                f"| {row.name} | {row.first:.1f} | {row.second:.1f} | {row.most:.1f} | {_word(row)} |"
                for row in outcome.rows
            ),
            "",
            WARM_UP,
            "",
            "| Table | MB at the end | Bytes a message, first half | Second half |",
            "|---|---|---|---|",
            *(
                f"| {name} | {size / 2**20:.1f} | {first:.0f} | {second:.0f} |"
                for name, size, first, second in tables(samples)
            ),
            "",
            f"Rows at the end: {', '.join(f'{name} {count}' for name, count in outcome.stored.items()) or 'few'}.",
            "",
            "| Minute | Acknowledgement p50 / p99 (ms) | Reply p50 / p99 (ms) |",
            "|---|---|---|",
            *_minutes(outcome),
            "",
        ]
    )


def _word(row: Row) -> str:
    return "flat" if row.ok else "GREW"


def _minutes(outcome: Outcome) -> list[str]:
    began = outcome.samples[0].at
    acks = {minute: cuts for minute, *cuts in minutes(outcome.load.acks, began)}
    replies = {minute: cuts for minute, *cuts in minutes(outcome.load.stub.latency, began)}
    return [
        f"| {minute + 1} | {acks[minute][0]:.1f} / {acks[minute][1]:.1f}"
        f" | {replies[minute][0]:.1f} / {replies[minute][1]:.1f} |"
        for minute in sorted(acks.keys() & replies.keys())
    ]
