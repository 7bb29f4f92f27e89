"""Configuration, targets and set-up of email (IMAP and SMTP)."""

from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta

from adapters.outbound.channels.common.config import credential, required, steps
from adapters.outbound.mail.compose import MailTarget
from adapters.outbound.mail.events import MailConfig
from adapters.outbound.mail.smtp import SMTP_TLS_PORT, Security, SmtpServer
from domain.channels.model import ChannelDefinition, Format, SetupInstructions
from domain.channels.typed import ConfigModel, JsonModel, setting

MOST_HOURS = 24 * 366 * 10
_YEARS = range(1971, MAXYEAR)
_FAULT = "must be a number of hours, such as 24, or a date from 1971 on, such as 2026-11-30"


def since_fault(value: object) -> str | None:
    """Returns the fault of a value of `since`, None if it is valid."""
    return None if _hours(value) is not None or _date(value) is not None else _FAULT


def taken_from(value: str | float, created: datetime) -> datetime | None:
    """The time before which mail is left alone; None if all unread mail is taken."""
    if (hours := _hours(value)) is not None:
        return created - timedelta(hours=hours)
    return _date(value)


def _hours(value: object) -> float | None:
    try:
        hours = float(str(value))
    except ValueError:
        return None
    return hours if 0 <= hours <= MOST_HOURS and str(value) else None


def _date(value: object) -> datetime | None:
    try:
        date = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    if date.year not in _YEARS:  # servers know no others, in any time zone
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


IMAP_TLS_PORT = 993
IMAP_PLAIN_PORT = 143
SMTP_STARTTLS_PORT = 587


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailConfig(MailConfig):
    """`authserv_id` is the name in Authentication-Results where it differs from the servers' domains."""

    smtp_host: str = required(
        "Host name of the SMTP server that sends the replies, for example smtp.example.com.",
        format=Format.HOST,
    )
    smtp_port: float = required(
        "Port of the SMTP server: 587 for TLS by STARTTLS, 465 for TLS from the start (SSL).",
        format=Format.PORT,
    )
    smtp_secure: bool | None = setting(
        "true: TLS from the first byte (465, or another port of yours). false: STARTTLS when the server "
        "offers it, else plain. Left out: 465 is TLS from the first byte, 587 requires STARTTLS."
    )
    imap_host: str = required(
        "Host name of the IMAP server whose INBOX is read, for example imap.example.com.", format=Format.HOST
    )
    imap_port: float = required(
        "Port of the IMAP server: 993 for TLS from the start, 143 for plain with STARTTLS if offered.",
        format=Format.PORT,
    )
    imap_secure: bool | None = setting(
        "true: TLS from the first byte (993, or another port of yours), on 143 STARTTLS is required. "
        "false: STARTTLS when the server offers it, else plain. 993 is always TLS from the first byte."
    )
    username: str = required("User name for both servers, often the mail address.")
    password: str = credential(
        "Password for both servers; an app password where the provider has two-step verification."
    )
    from_email: str = required(
        "Mail address that replies are sent from; mail from this address is never answered.",
        format=Format.EMAIL,
    )
    check_interval: float | None = setting(
        "Minutes between two looks into the mailbox (default 5); fractions are allowed. "
        "A server with IDLE tells of new mail at once.",
        format=Format.INTERVAL_MINUTES,
    )
    since: str | float = setting(
        "From when on unread mail is taken that lies in the mailbox already: a number of hours before the instance "
        "was created, such as 24, or a date, such as 2026-11-30. Older mail is left alone. Left out: all unread mail "
        "is taken.",
        basic=True,
        check=since_fault,
        suggested="24",
        accepts_number=True,
    )
    authserv_id: str = ""

    @property
    def imap_account(self) -> tuple[str, int, str]:
        """Identifies the mailbox."""
        return self.imap_host.strip().lower(), int(self.imap_port), self.username.strip().lower()

    @property
    def imap_security(self) -> Security:
        """993 is TLS from the start; on 143 `imapSecure` demands STARTTLS, elsewhere TLS from the start."""
        if self.imap_port == IMAP_TLS_PORT:
            return Security.IMPLICIT
        if self.imap_secure:
            return Security.STARTTLS if self.imap_port == IMAP_PLAIN_PORT else Security.IMPLICIT
        return Security.OPPORTUNISTIC

    @property
    def smtp_security(self) -> Security:
        """465 is TLS from the start; 587 is STARTTLS, which only `smtpSecure: false` makes optional."""
        if self.smtp_port == SMTP_TLS_PORT:
            return Security.IMPLICIT
        if self.smtp_port == SMTP_STARTTLS_PORT:
            return Security.OPPORTUNISTIC if self.smtp_secure is False else Security.STARTTLS
        return Security.IMPLICIT if self.smtp_secure else Security.OPPORTUNISTIC

    @property
    def smtp_server(self) -> SmtpServer:
        return SmtpServer(
            host=self.smtp_host.strip(),
            port=int(self.smtp_port),
            security=self.smtp_security,
            username=self.username,
            password=self.password,
        )

    @property
    def own_domains(self) -> tuple[str, ...]:
        """The domains that the mailbox's own receiving server may have in its name."""
        host = self.imap_host.strip().lower()
        labels = host.split(".")
        is_name = len(labels) > 2 and not labels[-1].isdigit()
        domains = (
            *(address.rpartition("@")[2] for address in (self.from_email, self.username) if "@" in address),
            ".".join(labels[1:]) if is_name else "",
            host,
            self.authserv_id.strip(),
        )
        return tuple(domain.lower() for domain in domains if domain)


CONFIG = ConfigModel(EmailConfig)
TARGET = JsonModel(MailTarget)

DEFINITION = ChannelDefinition(
    id="email",
    name="Email (IMAP/SMTP)",
    description="Answers the unread mail of a mailbox: reads INBOX over IMAP, replies over SMTP.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Connect a mailbox",
        steps=steps("""
            - Choose a mailbox of its own for the agent: every unread message in its INBOX is answered and
              marked as read.
            - Look up the provider's IMAP and SMTP servers and ports (Gmail: imap.gmail.com 993 and
              smtp.gmail.com 465 or 587).
            - Switch IMAP access on in the mailbox settings if the provider has it off.
            - With two-step verification, make an app password and use it in place of the account's password
              (Gmail: Google Account > Security > App passwords). Microsoft 365 no longer takes passwords for
              IMAP; use another mailbox or provider there.
            - Fill in smtpHost, smtpPort, imapHost, imapPort, username, password and fromEmail and save.
            - Write a mail to the mailbox from another address and wait for one check interval.
        """),
        docs_url="https://support.google.com/mail/answer/7126229",
        webhook_required=False,
    ),
)
