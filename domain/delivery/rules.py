"""When a part that was not taken is tried again. Pure."""

from domain.channels.messages import Outcome, Sent

OPTED_OUT = "the person wrote STOP and gets no more messages until they write START"

LATE_AFTER_DAYS = 7
"""So long a message that is due may wait for its turn, as behind an open circuit breaker, until it is given up."""
LATE = f"it was due for {LATE_AFTER_DAYS} days and could not be tried"

DELAYS = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0, 28800.0)
"""Seconds before the second, third, ... try; after the last one the part is a dead letter (about 16 hours)."""

LONGEST_WAIT = 86_400.0
"""Seconds that a platform can ask for at a time; if it means more, it will say so again."""

JITTER = 0.2
"""Delays are lengthened by up to this share, so that many parts do not come back at one moment."""


def next_delay(sent: Sent, attempts: int, chance: float) -> float | None:
    """Seconds until the next try, None when there is none.

    `attempts` counts the tries before this one, `chance` is a random number in [0, 1). Retry-After is
    honoured as the least, and does not use up tries faster than the platform asks for.
    """
    if sent.outcome in (Outcome.SENT, Outcome.PERMANENT):
        return None
    if attempts >= len(DELAYS):
        return None
    delay = DELAYS[attempts] * (1 + JITTER * chance)
    return max(delay, min(sent.retry_after or 0.0, LONGEST_WAIT))
