"""The service's own mail (verification codes), over the operator's SMTP server."""

from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from html import escape

from adapters.outbound.mail.compose import header_address, set_body
from adapters.outbound.mail.smtp import SmtpServer, Submission
from domain.channels.messages import Outcome
from ports.access import MailFailed
from ports.system import Clock, Ids


class SmtpMailer:
    """`ports.access.Mailer`; `sender` is an address, or a name and an address in angle brackets."""

    def __init__(
        self, submission: Submission, server: SmtpServer, sender: str, clock: Clock, ids: Ids
    ) -> None:
        self._submission = submission
        self._server = server
        self._name, self._sender = parseaddr(sender)
        self._clock = clock
        self._ids = ids

    async def send(self, recipient: str, subject: str, text: str) -> None:
        message = EmailMessage(policy=SMTP)
        try:
            message["To"] = header_address(recipient)
        except ValueError as failure:
            raise MailFailed(f"not a mail address: {failure}", refused=True) from failure
        try:
            message["From"] = header_address(self._sender, self._name)
        except ValueError as failure:
            raise MailFailed(f"SMTP_FROM is not a mail address: {failure}", refused=False) from failure
        message["Subject"] = subject
        message["Date"] = format_datetime(self._clock.now())
        message["Message-ID"] = f"<{self._ids.request_id()}@{self._sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        # Paragraphs without images and links, which spam filters count.
        paragraphs = (escape(paragraph).replace("\n", "<br>") for paragraph in text.strip().split("\n\n"))
        body = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        html = (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(subject)}</title></head>\n'
            f'<body style="font-family: sans-serif; font-size: 16px">\n{body}\n</body></html>\n'
        )
        set_body(message, text, html)
        sent = await self._submission.submit(self._server, message, self._sender, recipient)
        if sent.outcome is not Outcome.SENT:
            of_recipient = sent.of_recipient or not recipient.isascii()
            refused = sent.outcome is Outcome.PERMANENT and of_recipient
            raise MailFailed(sent.detail, refused=refused)
