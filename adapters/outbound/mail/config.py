"""The optional fields of mail channels."""

from collections.abc import Set
from dataclasses import dataclass, field

from domain.channels.model import ConfigField
from domain.channels.typed import CommonConfig

_KEPT = "Left out: it is kept in a list, and can be released."
SHARED_THREADS = ConfigField(
    "sharedThreads",
    "boolean",
    "true: all senders of a mail thread share one conversation. Left out: a conversation belongs to whoever began "
    "the thread, and other senders of it have conversations of their own.",
)
ANSWER_LISTS = ConfigField(
    "answerLists", "boolean", f"true: mail of mailing lists and bulk mail is answered. {_KEPT}"
)
ANSWER_AUTOMATIC = ConfigField(
    "answerAutomatic",
    "boolean",
    "true: mail that programs send by themselves is answered, such as that of web forms; automatic answers too. "
    + _KEPT,
)
ANSWER_NO_REPLY = ConfigField(
    "answerNoReply",
    "boolean",
    f"true: mail is answered whose answer goes to an address such as no-reply@example.com. {_KEPT}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailConfig(CommonConfig):
    shared_threads: bool = field(default=False, metadata={"field": SHARED_THREADS})
    answer_lists: bool = field(default=False, metadata={"field": ANSWER_LISTS})
    answer_automatic: bool = field(default=False, metadata={"field": ANSWER_AUTOMATIC})
    answer_no_reply: bool = field(default=False, metadata={"field": ANSWER_NO_REPLY})

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
