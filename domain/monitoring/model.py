"""What operators see of all instances together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.conversations.model import Message
from domain.instances.model import Health


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
class DeadLetterPage:
    """`next` is the cursor of the page that follows, None on the last one."""

    dead_letters: Sequence[DeadLetter]
    next: str | None


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


@dataclass(frozen=True, slots=True)
class HealthPage:
    """`next` is the cursor of the page that follows, None on the last one. A page of the failing instances alone may
    hold fewer than asked for, even none, while others follow."""

    instances: Sequence[InstanceState]
    next: str | None


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
