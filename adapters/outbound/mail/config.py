"""The optional fields of mail channels."""

from collections.abc import Set
from dataclasses import dataclass

from domain.channels.typed import CommonConfig, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class MailConfig(CommonConfig):
    shared_threads: bool | None = setting(
        "true: all senders of a mail thread share one conversation. Left out: a conversation belongs to whoever "
        "began the thread, and other senders of it have conversations of their own.",
    )
    answer_lists: bool | None = setting(
        "true: mail of mailing lists and bulk mail is answered. Left out: it is kept in a list, and can be released.",
    )
    answer_automatic: bool | None = setting(
        "true: mail that programs send by themselves is answered, such as that of web forms; automatic answers "
        "too. Left out: it is kept in a list, and can be released.",
    )
    answer_no_reply: bool | None = setting(
        "true: mail is answered whose answer goes to an address such as no-reply@example.com. Left out: it is kept "
        "in a list, and can be released.",
    )

    @property
    def answered_reasons(self) -> Set[str]:
        """The reasons not to answer a mail that do not count."""
        reasons = {
            "list": self.answer_lists,
            "bulk": self.answer_lists,
            "auto-submitted": self.answer_automatic,
            "auto-reply": self.answer_automatic,
            "no-reply": self.answer_no_reply,
        }
        return {reason for reason, is_answered in reasons.items() if is_answered}
