"""Recognises mail that must not be answered, since machines would answer back (RFC 3834, RFC 2919, RFC 5230),
and mail whose From address the receiving server has authenticated (RFC 8601; alignment: RFC 7489, 3.1)."""

import re
from collections.abc import Sequence, Set
from unicodedata import combining, normalize

from adapters.outbound.mail.headers import OWN_PREFIX, Address, Headers

_BULK = {"bulk", "list", "junk", "auto_reply", "auto-reply"}
_LIST = (
    "List-Id", "List-Unsubscribe", "List-Post", "List-Help", "List-Subscribe", "List-Owner", "List-Archive",
    "Mailing-List", "X-Mailing-List", "X-BeenThere",
)  # fmt: skip
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
    auto_submitted = headers.raw("Auto-Submitted")
    return_path = headers.raw("Return-Path") or ""
    checks = (
        _is_own(headers, own_address),
        auto_submitted is not None and auto_submitted.split(";")[0].strip().lower() != "no",
        headers.text("Precedence").lower() in _BULK,
        headers.has_any(_LIST),
        return_path.replace(" ", "").strip() == "<>"
        or headers.text("Content-Type").lower().startswith("multipart/report")
        or any(sender.email.lower().startswith("mailer-daemon@") for sender in headers.addresses("From"))
        or headers.raw("X-Failed-Recipients") is not None,
        headers.has_any(_AUTO_REPLY) or bool(_SUPPRESS.search(headers.text("X-Auto-Response-Suppress"))),
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
    own_domain = own.rpartition("@")[2].strip()
    ids = (message_id.strip("<>").rpartition("@") for message_id in headers.message_ids("Message-ID"))
    return any(local.startswith(OWN_PREFIX) and domain.lower() == own_domain for local, _, domain in ids)


def _is_unread(addresses: Sequence[Address]) -> bool:
    """Return True if nobody reads any of the addresses."""
    locals_ = (normalize("NFKD", address.email.rpartition("@")[0]) for address in addresses)
    plain = ["".join(c for c in local if not combining(c)) for local in locals_]
    return bool(plain) and all(_NO_REPLY.search(local) for local in plain)


_PROVIDERS = {
    "gmail.com": "google.com",
    "googlemail.com": "google.com",
    "fastmail.com": "messagingengine.com",
    "me.com": "icloud.com",
}
"""Providers whose receiving servers have another domain than their IMAP servers."""

_COMMENT = re.compile(r"\([^()\"\\]*\)")
_REASON = re.compile(r"\breason\s*=\s*\"[^\"\\]*\"(?=[\s;]|$)", re.IGNORECASE)
_QUOTED_VALUE = re.compile(r"=\s*\"([A-Za-z0-9.@_+-]*)\"(?=[\s;]|$)")
_RESULT = re.compile(r"^\s*(dkim|spf|dmarc)\s*=\s*([a-z]+)", re.IGNORECASE)
_PROPERTY = re.compile(r"\b([a-z]+\.[a-z]+)\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE)


def authenticated_sender(headers: Headers, own_domains: Sequence[str]) -> Address | None:
    """The From address when the mailbox's own receiving server has authenticated it.

    Only the topmost Authentication-Results field counts, and only when its server name belongs to one of
    `own_domains` (of the mailbox, its servers): fields further down may be the sender's own invention.
    """
    senders = headers.addresses("From")
    if len(senders) != 1 or len(headers.all("From")) != 1:
        return None
    # A local part may be a quoted string (RFC 5321, 4.1.2), so the sender may have written what stands in quotes:
    # semicolons, parentheses and verdicts. A field in which quotes or escapes are left proves nothing.
    results = _REASON.sub(" ", headers.raw("Authentication-Results") or "")
    results = _QUOTED_VALUE.sub(r"=\1", results)
    while (shorter := _COMMENT.sub(" ", results)) != results:
        results = shorter
    server, _, verdicts = results.partition(";")
    if {'"', "\\"}.intersection(results) or not _is_ours(server, own_domains):
        return None
    domain = senders[0].domain
    return senders[0] if any(_proves(verdict, domain) for verdict in verdicts.split(";")) else None


def _is_ours(server: str, own_domains: Sequence[str]) -> bool:
    name = (server.split() or [""])[0].strip('"').lower()
    own = {domain.lower() for domain in own_domains if "." in domain}
    others = {other for domain in own for provider, other in _PROVIDERS.items() if aligned(domain, provider)}
    return any(aligned(name, domain) for domain in own | others)


def _proves(verdict: str, domain: str) -> bool:
    result = _RESULT.match(verdict)
    if result is None or result.group(2).lower() != "pass":
        return False
    properties = {key.lower(): value for key, value in _PROPERTY.findall(verdict)}
    names = {
        "dkim": ("header.d", "header.i"),
        "spf": ("smtp.mailfrom", "smtp.helo"),
        "dmarc": ("header.from",),
    }[result.group(1).lower()]
    authenticated = next((properties[name] for name in names if name in properties), "")
    return aligned(authenticated.rpartition("@")[2].lower(), domain)


def aligned(one: str, other: str) -> bool:
    """Return True if two domains are equal or one is a subdomain of the other; a bare top-level name never counts."""
    shorter, longer = sorted((one.strip(".").lower(), other.strip(".").lower()), key=len)
    return "." in shorter and (longer == shorter or longer.endswith("." + shorter))
