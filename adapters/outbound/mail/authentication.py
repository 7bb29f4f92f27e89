"""Authentication of a mail's From address by the receiving server (RFC 8601; alignment: RFC 7489, 3.1)."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from adapters.outbound.mail.headers import Address, Headers

_PROVIDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "gmail.com": ("google.com",),
        "googlemail.com": ("google.com",),
        "fastmail.com": ("messagingengine.com",),
        "me.com": ("icloud.com",),
    }
)
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
    results = headers.raw("Authentication-Results") or ""
    server, _, verdicts = _without_comments(results).partition(";")
    if not _is_ours(server, own_domains):
        return None
    domain = senders[0].domain
    return senders[0] if any(_proves(verdict, domain) for verdict in verdicts.split(";")) else None


def _without_comments(results: str) -> str:
    """The field without comments, reasons and needless quotes; empty where quotes or escapes are left.

    A local part may be a quoted string (RFC 5321, 4.1.2), so the sender may have written what stands in quotes,
    semicolons, parentheses and verdicts included: such a field proves nothing.
    """
    text = _QUOTED_VALUE.sub(r"=\1", _REASON.sub(" ", results))
    while (shorter := _COMMENT.sub(" ", text)) != text:
        text = shorter
    return "" if '"' in text or "\\" in text else text


def _is_ours(server: str, own_domains: Sequence[str]) -> bool:
    name = (server.split() or [""])[0].strip('"').lower()
    trusted = {domain.lower() for domain in own_domains if "." in domain}
    for domain in tuple(trusted):
        for provider, others in _PROVIDERS.items():
            if aligned(domain, provider):
                trusted.update(others)
    return any(aligned(name, domain) for domain in trusted)


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
