"""A quota kept: when the next message may go. Pure, the time comes as seconds of any clock."""

from domain.channels.limits import Quota


class Bucket:
    """The generic cell rate algorithm: one number says how far the quota is used up.

    `share` is the part of the quota that this bucket has (0 to 1).
    """

    __slots__ = ("_interval", "_slack", "_used_until")

    def __init__(self, quota: Quota, share: float = 1.0) -> None:
        self._interval = quota.interval / share
        self._slack = (quota.burst - 1) * quota.interval if share == 1.0 else 0.0
        self._used_until = 0.0

    def wait(self, now: float) -> float:
        """Seconds until a message may go, 0 when it may go now."""
        return max(0.0, self._used_until - self._slack - now)

    def take(self, now: float) -> None:
        """A message goes, now or at the moment that `wait` said."""
        self._used_until = max(self._used_until, now) + self._interval

    def is_full(self, now: float) -> bool:
        """Whether a new bucket would say the same."""
        return self._used_until <= now
