"""Wake-ups within this process and between processes, and which worker reacts to one first.

Each look at the database costs 0.5 to 2 ms, and all but one worker would look in vain. So notices have numbers,
and each number is the turn of one worker. The others look a little later, in case it did not take all, or is gone;
the more workers there are, the later, so that all together look about as often.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from ports.queue import More

RECENT = 2048
MISSING = object()

T = TypeVar("T")


class Wakeup:
    """Wakes a loop that waits; several calls before it wakes count once."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def wake(self) -> None:
        self._event.set()

    def wake_within(self, seconds: float) -> None:
        """At the latest then: whoever is woken before has seen what this was about."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.wake)

    async def wait(self, seconds: float) -> None:
        """Returns when woken since the last return, or after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return
        finally:
            self._event.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None


class Follower:
    """Hears of an answer that is being made."""

    def __init__(self, *, answered: bool) -> None:
        self._news = asyncio.Event()
        self._pieces: list[str] = []
        self._size = 0
        self._answered = False
        if answered:
            self.wake()

    def take(self, offset: int, piece: str) -> None:
        """A piece behind a gap is of no use, and one from before was shown already."""
        if offset == self._size:
            self._pieces.append(piece)
            self._size += len(piece)
            self._news.set()

    def wake(self) -> None:
        self._answered = True
        self._news.set()

    async def more(self, seconds: float) -> str:
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return ""
        text = "".join(self._pieces)
        self._pieces.clear()
        if text and self._answered:
            return text  # `_news` stays set: the next call tells that the answer is on record
        self._news.clear()
        self._answered = False
        return text


class EventBus:
    """Takes what happened and tells those concerned.

    `broadcast` reaches the other processes; it is set once the connection for it stands. `solitary`: this
    process works off its own messages, so others need no wake-up for them. `may_take` says of both queues whether the
    worker of this process would lease what is due at once.
    """

    def __init__(self, *, solitary: bool) -> None:
        self.turns = Turns()
        self.may_take: Mapping[str, Callable[[], bool]] = dict.fromkeys(("in", "out"), lambda: True)
        self.inbound = Wakeup()
        self.outbound = Wakeup()
        self.limits = Wakeup()
        self.broadcast: Callable[[str], None] = lambda _: None
        self._solitary = solitary
        self._instances: list[Callable[[int | None], None]] = []
        self._withdrawals: list[Callable[[int], None]] = []
        self._chats: list[Callable[[str | None], None]] = []
        self._agents: list[Callable[[None], None]] = []
        self._waiters: dict[int, asyncio.Event] = {}
        self._followers: dict[int, list[Follower]] = {}
        self._recent: OrderedDict[int, object] = OrderedDict()

    def on_change(self, forget: Callable[[int | None], None]) -> None:
        """Calls `forget` with each instance that changed; None means any."""
        self._instances.append(forget)

    def on_withdrawal(self, withdraw: Callable[[int], None]) -> None:
        """Calls `withdraw` with each message that its sender deleted or replaced."""
        self._withdrawals.append(withdraw)

    def on_chat(self, changed: Callable[[str | None], None]) -> None:
        """Calls `changed` with each conversation of the web chat that changed; None means any."""
        self._chats.append(changed)

    def on_agents(self, changed: Callable[[None], None]) -> None:
        """Calls `changed` when any stored agent changed."""
        self._agents.append(changed)

    def agents_changed(self) -> None:
        _call(self._agents, None)
        self.broadcast("agents")

    def chat_changed(self, conversation: str) -> None:
        _call(self._chats, conversation)
        if not self._solitary:
            self.broadcast(f"chat:{conversation}")

    def withdrawn(self, inbox_id: int) -> None:
        self._withdraw(inbox_id)
        self.inbound_enqueued()
        self.broadcast(f"withdrawn:{inbox_id}")

    def inbound_enqueued(self, *, here: bool = False) -> None:
        """`here`: the others are not woken if the worker of this process leases what is due at once (`may_take`). So
        a conversation of which more is left stays where it is: if the others were woken it would wander between them,
        for a lease and a notice each time. Should this process not come to it, they find it when they look by
        themselves."""
        self.inbound.wake()
        if not (self._solitary or (here and self.may_take["in"]())):
            self.broadcast("in")

    def outbound_enqueued(self, *, here: bool = False) -> None:
        """As `inbound_enqueued`."""
        self.outbound.wake()
        if not (self._solitary or (here and self.may_take["out"]())):
            self.broadcast("out")

    def limits_changed(self) -> None:
        """What the workers share of the limits of platforms has changed."""
        if not self._solitary:
            self.broadcast("limits")

    def answered(self, inbox_id: int) -> None:
        if not self._tell(inbox_id):
            self.broadcast(f"answer:{inbox_id}")

    def grew(self, inbox_id: int, offset: int, piece: str) -> None:
        """The answer to a message has got this piece, of at most 600 characters: PostgreSQL carries 8,000 bytes."""
        if not self._show(inbox_id, offset, piece) and not self._solitary:
            self.broadcast(f"grew:{inbox_id}:{offset}:{json.dumps(piece)}")

    def changed(self, instance_id: int) -> None:
        _call(self._instances, instance_id)
        self.broadcast(f"instance:{instance_id}")

    def on_notification(self, notice: str) -> None:
        """A notice of another process."""
        kind, _, value = notice.partition(":")
        match kind:
            case "in" | "out":
                worker = self.inbound if kind == "in" else self.outbound
                if self.turns.wake(worker, value, self.may_take[kind]):
                    self.broadcast(f"{kind}:{ALL}")
            case "limits":
                self.limits.wake()
            case "answer":
                self._tell(int(value))
            case "withdrawn":
                self._withdraw(int(value))
            case "grew":
                id, offset, piece = value.split(":", 2)
                self._show(int(id), int(offset), json.loads(piece))
            case "chat":
                _call(self._chats, value)
            case "instance":
                _call(self._instances, int(value))
            case "agents":
                _call(self._agents, None)

    def on_disconnect(self) -> None:
        """Notices may have been missed."""
        _call(self._instances, None)
        _call(self._chats, None)
        _call(self._agents, None)
        self.inbound.wake()
        self.outbound.wake()

    async def wait(self, inbox_id: int, seconds: float) -> None:
        """Returns when that event's answer is on record, or after `seconds`."""
        if self._recent.pop(inbox_id, MISSING) is not MISSING:
            return
        event = self._waiters.setdefault(inbox_id, asyncio.Event())
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return
        finally:
            self._waiters.pop(inbox_id, None)

    @contextmanager
    def follow(self, inbox_id: int) -> Iterator[More]:
        follower = Follower(answered=self._recent.pop(inbox_id, MISSING) is not MISSING)
        followers = self._followers.setdefault(inbox_id, [])
        followers.append(follower)
        try:
            yield follower.more
        finally:
            followers.remove(follower)
            if not followers:
                del self._followers[inbox_id]

    def _show(self, inbox_id: int, offset: int, piece: str) -> bool:
        followers = self._followers.get(inbox_id, ())
        for follower in followers:
            follower.take(offset, piece)
        return bool(followers)

    def _withdraw(self, inbox_id: int) -> None:
        _call(self._withdrawals, inbox_id)
        for follower in self._followers.get(inbox_id, ()):
            follower.wake()

    def _tell(self, inbox_id: int) -> bool:
        self._recent[inbox_id] = None
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        event, followers = self._waiters.get(inbox_id), self._followers.get(inbox_id, ())
        if event is not None:
            event.set()
        for follower in followers:
            follower.wake()
        return event is not None or bool(followers)


def _call(functions: Sequence[Callable[[T], None]], value: T) -> None:
    for function in functions:
        function(value)


EACH_SECONDS = 0.02
"""For each worker, until those look whose turn it is not: 50 looks a second in all, however many there are."""
ALL = "all"
"""The value of a notice that is every worker's turn."""


class Worker(Protocol):
    def wake(self) -> None: ...

    def wake_within(self, seconds: float) -> None: ...


class Turns:
    """The rank of this worker among all that live. Where their number has just changed, a notice may be nobody's
    turn, or that of two."""

    def __init__(self) -> None:
        self._rank, self._workers = 0, 1

    def set_rank(self, rank: int, workers: int) -> None:
        """`rank`: how many of the workers have a lower id."""
        self._workers = max(1, workers)
        self._rank = min(rank, self._workers - 1)

    def wake(self, worker: Worker, value: str, may_take: Callable[[], bool]) -> bool:
        """Wakes the worker for a notice with this number, at once where it is its turn. Whether it passes its turn on
        to all, as it would not take what is due. A notice without a number comes from an older version."""
        if not value.isdecimal():
            worker.wake()
        elif int(value) % self._workers != self._rank:
            worker.wake_within(self._workers * EACH_SECONDS)
        else:
            worker.wake()
            return self._workers > 1 and not may_take()
        return False
