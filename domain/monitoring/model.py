"""Dead letters, the health of all instances, and figures over time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from domain.conversations.model import Direction, Message
from domain.instances.model import Health
from domain.refusals import Fault, Invalid


@dataclass(frozen=True, slots=True)
class InstanceName:
    """An instance as lists over several instances name it."""

    id: int
    user_id: str
    channel_id: str
    channel_name: str


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message of either direction that was given up; `message.error` says why."""

    instance: InstanceName
    message: Message


@dataclass(frozen=True, slots=True)
class DeadPart:
    """A part of an outbound message that was given up: its JSON `payload` as it was handed to the channel."""

    delivery_id: int
    attempts: int
    error: str | None
    payload: str


@dataclass(frozen=True, slots=True)
class DeadLetterView:
    """A dead letter with its dead parts, of which an inbound message has none."""

    dead_letter: DeadLetter
    parts: Sequence[DeadPart]


@dataclass(frozen=True, slots=True)
class DeadLetterId:
    """`message_id` is the id of a message as lists have it."""

    instance_id: int
    message_id: str


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What came of an action on one of several dead letters; `error` says why it was refused."""

    instance_id: int
    message_id: str
    error: str | None = None

    @property
    def success(self) -> bool:
        return self.error is None


@dataclass(frozen=True, slots=True)
class Backlog:
    """The ages of the oldest messages that wait to be processed and to be sent, in seconds; 0 where none waits."""

    waiting_seconds: float = 0.0
    pending_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Cooldown:
    """For how long nothing is sent with the account, and in how many of its conversations, as the platform asked."""

    seconds: float = 0.0
    conversations: int = 0


@dataclass(frozen=True, slots=True)
class InstanceState:
    """An instance, its health, its backlog and the limits of its platform that hold it up."""

    instance: InstanceName
    health: Health
    backlog: Backlog
    cooldown: Cooldown


class Period(StrEnum):
    """The last hour by minutes, the last day by half hours."""

    HOUR = "hour"
    DAY = "day"

    @property
    def step(self) -> int:
        """Seconds."""
        return 60 if self is Period.HOUR else 1800

    @property
    def points(self) -> int:
        return 60 if self is Period.HOUR else 48


@dataclass(frozen=True, slots=True)
class Counts:
    """Messages received, answered and given up, and the seconds within which half of the answers and 95 % of them
    reached the platform; None where there was none."""

    received: int = 0
    answered: int = 0
    failed: int = 0
    p50: float | None = None
    p95: float | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """The counts of the step that begins at `at`."""

    at: datetime
    counts: Counts


@dataclass(frozen=True, slots=True)
class Figures:
    """The counts of a period by steps of `step_seconds`, and in all; `until`: what happened later is not counted
    yet."""

    period: Period
    step_seconds: int
    until: datetime
    total: Counts
    points: Sequence[Figure]


class Grade(StrEnum):
    """Of a finding: all is well, it works without, or it has to be mended."""

    OK = "ok"
    NOTE = "note"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What the doctor says of one subject of the installation."""

    grade: Grade
    subject: str
    text: str


SHORTEST = 0.05
GROWTH = 1.25
BUCKETS = 64
BOUNDS = tuple(round(SHORTEST * GROWTH**number, 4) for number in range(BUCKETS))
"""Seconds between which times are counted together, 50 ms to 18 hours: a percentile is at most an eighth off."""

RECEIVED, FAILED = -1, -2
"""Measures beside the numbers of the buckets, which count the answers."""


def steps_of(period: Period, until: datetime, measures: Mapping[datetime, Mapping[int, int]]) -> Figures:
    """All steps of the period that ends with the one of `until`, also those in which nothing happened."""
    step = period.step
    last = datetime.fromtimestamp(until.timestamp() // step * step, until.tzinfo)
    starts = [last - timedelta(seconds=step * number) for number in reversed(range(period.points))]
    total: Counter[int] = Counter()
    for start in starts:
        total.update(measures.get(start, {}))
    points = [Figure(start, counts_of(measures.get(start, {}))) for start in starts]
    return Figures(period, step, until, counts_of(total), points)


def recent(measures: Mapping[datetime, Mapping[int, int]], since: datetime) -> Counts:
    """Of all steps that begin at `since` or later."""
    total: Counter[int] = Counter()
    for start, counted in measures.items():
        if start >= since:
            total.update(counted)
    return counts_of(total)


def counts_of(measures: Mapping[int, int]) -> Counts:
    """`measures`: how often each was counted."""
    buckets = {number: count for number, count in sorted(measures.items()) if number >= 0}
    return Counts(
        received=measures.get(RECEIVED, 0),
        answered=sum(buckets.values()),
        failed=measures.get(FAILED, 0),
        p50=percentile(buckets, 0.5, BOUNDS),
        p95=percentile(buckets, 0.95, BOUNDS),
    )


def percentile(buckets: Mapping[int, int], part: float, bounds: Sequence[float]) -> float | None:
    """Between the bounds of its bucket in proportion; None if nothing was counted. `buckets` in the order of their
    numbers: bucket 0 lies below the first bound, the last one above the last."""
    rank = part * sum(buckets.values())
    for number, count in buckets.items():
        if rank <= count:
            low = bounds[number - 1] if number else 0.0
            high = bounds[min(number, len(bounds) - 1)]
            return round(low + (high - low) * rank / count, 3)
        rank -= count
    return None


def parse_direction(text: str) -> Direction | None:
    """None stands for both directions. Raises `Invalid`."""
    if text and text not in list(Direction):
        raise Invalid.of([Fault("direction", "must be in or out")])
    return Direction(text) if text else None


def parse_period(text: str) -> Period:
    """Raises `Invalid`."""
    if text not in list(Period):
        raise Invalid.of([Fault("period", "must be hour or day")])
    return Period(text)
