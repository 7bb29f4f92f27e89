"""Whom a mail server's limits bind: the account that logs in. Each provider has numbers of its own.

Servers limit the connections of an account or address at a time (Dovecot to 10, Exim to 20 for all senders by
default), and the mail programs of the mailbox's owner count too.
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import Config, Target

MAX_CONCURRENCY = 2


def limits(config: Config, target: Target) -> Limits:
    return Limits(_account(config, "smtpHost"), text(target, "to"), max_concurrency=MAX_CONCURRENCY)


def read_limits(config: Config) -> Limits:
    """Those of the IMAP server. The connection that waits for news (IDLE) is not counted."""
    return Limits(f"imap {_account(config, 'imapHost')}", max_concurrency=MAX_CONCURRENCY)


def _account(config: Config, host: str) -> str:
    return f"{text(config, host).strip().lower()} {text(config, 'username')}"
