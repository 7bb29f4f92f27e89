"""When nothing is sent to a platform that does not answer. Pure, the time comes as seconds of a clock.

Closed, failures in a row are counted; open, nothing is sent; after a while it is half open: one message goes
as a probe, and its result closes the breaker or opens it for longer.
"""

from enum import StrEnum

THRESHOLD = 5
"""Failures in a row that open a breaker."""
CONVERSATIONS = 3
"""They must be of so many conversations: a single one that fails is delayed by its own retries."""
FIRST_OPEN = 10.0
"""Seconds that a breaker stays open; each failed probe doubles them."""
LONGEST_OPEN = 300.0


class State(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """The breaker of one instance. `openings`: how often in a row it has opened."""

    __slots__ = ("_conversations", "_failures", "openings", "until")

    def __init__(self) -> None:
        self._failures = 0
        self._conversations: set[str] = set()
        self.openings = 0
        self.until = 0.0

    def state(self, now: float) -> State:
        if not self.openings:
            return State.CLOSED
        return State.OPEN if now < self.until else State.HALF_OPEN

    def failed(self, conversation: str, now: float) -> bool:
        """Counts a failure; whether it opened the breaker (again)."""
        state = self.state(now)
        if state is State.OPEN:  # a message that was under way when it opened
            return False
        self._failures += 1
        if len(self._conversations) < CONVERSATIONS:
            self._conversations.add(conversation)
        many = self._failures >= THRESHOLD and len(self._conversations) >= CONVERSATIONS
        if state is State.CLOSED and not many:
            return False
        self.openings += 1
        self.until = now + opening(self.openings)
        return True

    def adopt(self, openings: int, until: float) -> None:
        """Takes over the state that another process has."""
        self.openings, self.until = openings, until


def opening(openings: int) -> float:
    """Seconds for which a breaker opens that opens for the n-th time in a row."""
    return min(LONGEST_OPEN, FIRST_OPEN * 2.0 ** min(openings - 1, 10))
