"""Who is to be told of what, in this process and in the others."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable

RECENT = 2048
MISSING = object()


class Wakeup:
    """Wakes a loop that waits; several calls before it wakes count once."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def wake(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Returns when woken since the last return, or after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return
        finally:
            self._event.clear()


class EventBus:
    """Takes what happened and tells those concerned.

    `broadcast` reaches the other processes; it is set once the connection for it stands. `solitary`: this
    process works off its own messages, so others need no wake-up for them.
    """

    def __init__(self, *, solitary: bool) -> None:
        self.inbound = Wakeup()
        self.outbound = Wakeup()
        self.limits = Wakeup()
        self.broadcast: Callable[[str], None] = _nobody
        self._solitary = solitary
        self._forget: list[Callable[[int | None], None]] = []
        self._withdraw: list[Callable[[int], None]] = []
        self._chat: list[Callable[[str | None], None]] = []
        self._waiters: dict[int, asyncio.Event] = {}
        self._recent: OrderedDict[int, object] = OrderedDict()

    def on_change(self, forget: Callable[[int | None], None]) -> None:
        """`forget` is told each instance that changed, or None: any may have."""
        self._forget.append(forget)

    def on_withdrawal(self, withdraw: Callable[[int], None]) -> None:
        """`withdraw` is told each message that its sender took back or replaced."""
        self._withdraw.append(withdraw)

    def on_chat(self, changed: Callable[[str | None], None]) -> None:
        """`changed` is told each conversation of the web chat in which something is new, or None: in any may be."""
        self._chat.append(changed)

    def chat_changed(self, conversation: str) -> None:
        self._tell_chat(conversation)
        if not self._solitary:
            self.broadcast(f"chat:{conversation}")

    def withdrawn(self, inbox_id: int) -> None:
        self._tell_withdrawn(inbox_id)
        self.inbound_enqueued()
        self.broadcast(f"withdrawn:{inbox_id}")

    def inbound_enqueued(self) -> None:
        self.inbound.wake()
        if not self._solitary:
            self.broadcast("in")

    def outbound_enqueued(self) -> None:
        self.outbound.wake()
        if not self._solitary:
            self.broadcast("out")

    def limits_changed(self) -> None:
        """What the workers share of the limits of platforms has changed."""
        if not self._solitary:
            self.broadcast("limits")

    def answered(self, inbox_id: int) -> None:
        if not self._tell(inbox_id):
            self.broadcast(f"answer:{inbox_id}")

    def changed(self, instance_id: int) -> None:
        self._forget_instance(instance_id)
        self.broadcast(f"instance:{instance_id}")

    def on_notification(self, notice: str) -> None:
        """A notice of another process."""
        kind, _, value = notice.partition(":")
        match kind:
            case "in":
                self.inbound.wake()
            case "out":
                self.outbound.wake()
            case "limits":
                self.limits.wake()
            case "answer":
                self._tell(int(value))
            case "withdrawn":
                self._tell_withdrawn(int(value))
            case "chat":
                self._tell_chat(value)
            case "instance":
                self._forget_instance(int(value))

    def on_disconnect(self) -> None:
        """Notices may have been missed."""
        self._forget_instance(None)
        self._tell_chat(None)
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

    def _tell_withdrawn(self, inbox_id: int) -> None:
        for withdraw in self._withdraw:
            withdraw(inbox_id)

    def _tell_chat(self, conversation: str | None) -> None:
        for changed in self._chat:
            changed(conversation)

    def _tell(self, inbox_id: int) -> bool:
        self._recent[inbox_id] = None
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        event = self._waiters.get(inbox_id)
        if event is not None:
            event.set()
        return event is not None

    def _forget_instance(self, instance_id: int | None) -> None:
        for forget in self._forget:
            forget(instance_id)


def _nobody(_: str) -> None:
    return
