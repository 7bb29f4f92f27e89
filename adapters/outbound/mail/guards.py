"""Recognises mail that must not be answered: machines would answer back (RFC 3834, RFC 2919, RFC 5230)."""

import re
from collections.abc import Sequence, Set
from unicodedata import combining, normalize

from adapters.outbound.mail.headers import Address, Headers
from adapters.outbound.mail.threads import OWN_PREFIX

_BULK = {"bulk", "list", "junk", "auto_reply", "auto-reply"}
_LIST = (
    *(
        "List-Id",
        "List-Unsubscribe",
        "List-Post",
        "List-Help",
        "List-Subscribe",
        "List-Owner",
        "List-Archive",
    ),
    *("Mailing-List", "X-Mailing-List", "X-BeenThere"),
)
"""Fields of mailing lists (RFC 2369, RFC 2919) and of older programs for them."""
_AUTO_REPLY = (
    *("X-Autoreply", "X-Auto-Reply", "X-Autoreply-From", "X-Mail-Autoreply"),
    *("X-Autorespond", "X-Autoresponder", "X-Auto-Responder"),
)
"""Fields by which programs mark automatic answers."""
_NO_REPLY = re.compile(
    r"(?:^|[-_.])(?:"
    r"(?:no|do[-_.]*not|don'?t)[-_.]*(?:repl(?:y|ies)|respon[ds]e?|answer)|auto[-_.]*(?:reply|respon[ds]er?)|"
    r"nicht[-_.]*antworten|keine[-_.]*antwort|ne[-_.]*pas[-_.]*repondre|"
    r"no[-_.]*(?:responder|responda|contestar)|nao[-_.]*respond(?:a|er)|non[-_.]*rispondere|niet[-_.]*antwoorden|"
    r"(?:inte|ikke)[-_.]*svara?(?![a-z])|svara?[-_.]*(?:inte|ikke|ej)(?![a-z])|nie[-_.]*odpowiadaj)"
    r"|noreply|donotreply"
    r"|^(?:mailer[-_.]?daemon|postmaster|bounces?|daemon|majordomo|listserv|microsoftexchange[\da-f]{32})"
    r"(?:$|[-_.+=\d])|-bounces?(?:$|[+=])|^owner-|-request$",
    re.IGNORECASE,
)
"""The part before the @ of addresses that nobody reads, without accents."""
REASONS = ("own-mail", "auto-submitted", "bulk", "list", "bounce", "auto-reply", "no-reply", "no-sender")
"""Why mails are not answered, those first that say the most."""
_SUPPRESS = re.compile(r"\b(all|autoreply)\b", re.IGNORECASE)


def reason_not_to_answer(
    headers: Headers, own_address: str, answered_reasons: Set[str] = frozenset()
) -> str | None:
    """Why the mail is not answered, in one word; None when it may be answered. `answered_reasons` do not count."""
    checks = (
        _is_own(headers, own_address),
        _is_auto_submitted(headers),
        headers.text("Precedence").lower() in _BULK,
        headers.has_any(_LIST),
        _is_bounce(headers),
        _is_auto_reply(headers),
        _is_unread(headers.reply_addresses()),
        not headers.addresses("From"),
    )
    reasons = zip(REASONS, checks, strict=True)
    return next((reason for reason, holds in reasons if holds and reason not in answered_reasons), None)


def _is_own(headers: Headers, own_address: str) -> bool:
    """Return True if it comes from the own address, or its answer would go there."""
    own = own_address.strip().lower()
    if any(address.email.lower() == own for address in headers.addresses("From")):
        return True
    answered = headers.reply_addresses()
    if answered and all(address.email.lower() == own for address in answered):
        return True
    return any(_is_own_id(message_id, own) for message_id in headers.message_ids("Message-ID"))


def _is_own_id(message_id: str, own_address: str) -> bool:
    local, _, domain = message_id.strip("<>").rpartition("@")
    return local.startswith(OWN_PREFIX) and domain.lower() == own_address.rpartition("@")[2].strip().lower()


def _is_auto_submitted(headers: Headers) -> bool:
    value = headers.raw("Auto-Submitted")
    return value is not None and value.split(";")[0].strip().lower() != "no"


def _is_bounce(headers: Headers) -> bool:
    return_path = headers.raw("Return-Path")
    senders = headers.addresses("From")
    return (
        (return_path is not None and return_path.replace(" ", "").strip() == "<>")
        or headers.text("Content-Type").lower().startswith("multipart/report")
        or any(sender.email.lower().startswith("mailer-daemon@") for sender in senders)
        or headers.raw("X-Failed-Recipients") is not None
    )


def _is_auto_reply(headers: Headers) -> bool:
    return headers.has_any(_AUTO_REPLY) or bool(_SUPPRESS.search(headers.text("X-Auto-Response-Suppress")))


def _is_unread(addresses: Sequence[Address]) -> bool:
    """Return True if nobody reads any of the addresses."""
    locals_ = (normalize("NFKD", address.email.rpartition("@")[0]) for address in addresses)
    plain = ["".join(c for c in local if not combining(c)) for local in locals_]
    return bool(plain) and all(_NO_REPLY.search(local) for local in plain)
