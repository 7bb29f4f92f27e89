"""What an instance's configuration says about its two servers."""

from __future__ import annotations

from adapters.outbound.mail.connections import Security
from adapters.outbound.mail.smtp import SMTP_TLS_PORT
from domain.channels.messages import Config

IMAP_TLS_PORT = 993
IMAP_PLAIN_PORT = 143
SMTP_STARTTLS_PORT = 587


def imap_security(config: Config) -> Security:
    """993 is TLS from the start; on 143 `imapSecure` demands STARTTLS, elsewhere TLS from the start."""
    port, secure = int(config["imapPort"]), config.get("imapSecure")
    if port == IMAP_TLS_PORT:
        return Security.IMPLICIT
    if secure:
        return Security.STARTTLS if port == IMAP_PLAIN_PORT else Security.IMPLICIT
    return Security.OPPORTUNISTIC


def smtp_security(config: Config) -> Security:
    """465 is TLS from the start; 587 is STARTTLS, which only `smtpSecure: false` makes optional."""
    port, secure = int(config["smtpPort"]), config.get("smtpSecure")
    if port == SMTP_TLS_PORT:
        return Security.IMPLICIT
    if port == SMTP_STARTTLS_PORT:
        return Security.OPPORTUNISTIC if secure is False else Security.STARTTLS
    return Security.IMPLICIT if secure else Security.OPPORTUNISTIC


def own_domains(config: Config) -> tuple[str, ...]:
    """The domains under which the mailbox's own receiving server may name itself."""
    addresses = (str(config["fromEmail"]), str(config["username"]))
    found = [address.rpartition("@")[2] for address in addresses if "@" in address]
    host = str(config["imapHost"]).strip().lower()
    labels = host.split(".")
    if len(labels) > 2 and not labels[-1].isdigit():
        found.append(".".join(labels[1:]))
    found.append(host)
    if config.get("authservId"):
        found.append(str(config["authservId"]).strip())
    return tuple(each.lower() for each in found if each)
