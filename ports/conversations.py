"""What is kept of conversations, for those who look after an instance."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol

from domain.channels.messages import Identity
from domain.conversations.model import (
    ConversationFilter,
    ConversationPage,
    MessageId,
    MessagePage,
    MessagesWanted,
    Timeline,
)


class Rerun(Enum):
    """What came of running a message again. `NOT_FAILED`: it was not given up."""

    STARTED = 1
    NOT_FAILED = 2
    UNKNOWN = 3


class HistoryStore(Protocol):
    """The messages of conversations. `cursor` is that of the page before; `Invalid` for one that is none."""

    async def conversations(
        self, owner: str | None, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> ConversationPage:
        """Those of the active instances of a user, or of all (None), the latest first."""
        ...

    async def messages(self, instance_id: int, session_id: str, wanted: MessagesWanted) -> MessagePage | None:
        """None where there is no such conversation."""
        ...

    async def failed(self, instance_id: int, limit: int, cursor: str | None) -> MessagePage:
        """The messages of both directions that were given up, the latest first."""
        ...


class ConversationActions(Protocol):
    """What is done with conversations. A result of False: there is none of that id."""

    async def hold(self, instance_id: int, session_id: str, user_id: str, minutes: int) -> bool:
        """A person, this user, has the conversation for so long."""
        ...

    async def hand_back(self, instance_id: int, session_id: str) -> bool:
        """The resource has the conversation, and gets what is queued."""
        ...

    async def rerun(self, instance_id: int, message: MessageId) -> Rerun:
        """Has a message that was given up processed or sent again."""
        ...

    async def erase(self, instance_id: int, session_id: str) -> bool:
        """Erases the texts and files of a conversation and all that is on record of it."""
        ...


class Timelines(Protocol):
    async def of(self, instance_id: int, messages: Sequence[MessageId]) -> Sequence[Timeline]:
        """What happened to those of these messages that the instance has, in their order."""
        ...


class SenderUsers(Protocol):
    async def users_of(self, identities: Sequence[Identity]) -> Mapping[Identity, str]:
        """The users that these identities are verified for."""
        ...
