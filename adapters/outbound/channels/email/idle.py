"""Waits for new mail over IDLE (RFC 2177)."""

import contextlib
import ssl
import time
from collections import Counter
from enum import Enum

import anyio
from anyio import CapacityLimiter
from imap_tools import MailboxTaggedResponseError

from adapters.outbound.channels.email.config import EmailConfig
from adapters.outbound.channels.email.imap import MailBox
from adapters.outbound.channels.email.mailbox import IMAP_ERRORS, Mailboxes
from ports.capabilities import PollFailed

MAX_WATCHED = 100
"""Mailboxes that are watched at a time; each takes a thread. Others are polled by the interval."""
MAX_HUNG_UP = 3
"""How often in a row a server may end IDLE early; after that the mailbox is polled by the interval."""
MAX_IDLE = 29 * 60.0
"""Seconds after which IDLE must be renewed."""

Account = tuple[str, int, str]


class _End(Enum):
    """How waiting ended; `HUNG_UP`: early and without a message."""

    NOT_OFFERED = 1
    NEWS = 2
    SILENCE = 3
    HUNG_UP = 4


class IdleWatcher:
    """Watches mailboxes. `uid_next` holds the UIDNEXT of the last poll by account: mail that came since is news."""

    def __init__(self, mailboxes: Mailboxes) -> None:
        self._mailboxes = mailboxes
        self.uid_next: dict[Account, int] = {}
        self._hung_up: Counter[Account] = Counter()
        self._limiter: CapacityLimiter | None = None

    async def watch(self, config: EmailConfig, timeout: float) -> None:
        """Returns when there may be new mail; without IDLE, or with too many watched, after `timeout`.

        Raises `PollFailed` for a server that ends IDLE again and again: polling each time would flood it.
        """
        account = config.imap_account
        limiter = self._limiter = self._limiter or CapacityLimiter(MAX_WATCHED)
        if limiter.available_tokens < 1:
            await anyio.sleep(timeout)
            return
        seconds = min(timeout, MAX_IDLE)
        uid_next = self.uid_next.get(account, 0)
        end = await self._mailboxes.work(
            config, lambda box: _idle(box, seconds, uid_next), limiter, seconds + 60
        )
        if end is _End.NOT_OFFERED:
            await anyio.sleep(timeout)
        self._hung_up[account] = self._hung_up[account] + 1 if end is _End.HUNG_UP else 0
        if self._hung_up[account] > MAX_HUNG_UP:
            raise PollFailed("the server ends IDLE at once, again and again")


def _idle(box: MailBox, seconds: float, uid_next: int) -> _End:
    """Waits until something happens in INBOX; returns at once when mail came since the last poll."""
    answer, data = box.client.capability()  # as announced after the login
    if answer != "OK" or b"IDLE" not in (data[-1] or b"").upper().split():
        return _End.NOT_OFFERED
    if (uid_next and box.number_of("UIDNEXT") > uid_next) or not _start(box):
        return _End.NEWS
    until = time.monotonic() + seconds
    responses = box.idle.poll(timeout=seconds)
    with contextlib.suppress(*IMAP_ERRORS):
        box.idle.stop()  # type: ignore[no-untyped-call]  # else the server would take LOGOUT for a part of IDLE
    if responses:
        return _End.NEWS
    return _End.HUNG_UP if time.monotonic() < until else _End.SILENCE


def _start(box: MailBox) -> bool:
    """Begins IDLE. False when the server had news before it took the command, or together with its answer."""
    try:
        box.idle.start()  # type: ignore[no-untyped-call]
    except MailboxTaggedResponseError:
        return False
    return not _has_read_ahead(box)


def _has_read_ahead(box: MailBox) -> bool:
    """Whether an answer is in the read buffer already, where waiting on the socket would miss it."""
    reader = getattr(box.client, "file", None)  # absent from Python 3.14 on
    if reader is None:
        return False
    timeout = box.client.sock.gettimeout()
    box.client.sock.settimeout(0)
    try:
        return bool(reader.peek(1))
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    finally:
        box.client.sock.settimeout(timeout)
