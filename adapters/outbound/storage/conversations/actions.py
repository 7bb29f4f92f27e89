"""`ports.conversations.ConversationActions` in PostgreSQL."""

from collections.abc import Awaitable, Callable, Sequence

from adapters.outbound.storage.conversations.erasure import Erasure
from adapters.outbound.storage.conversations.handlers import PostgresHandlers
from adapters.outbound.storage.conversations.reruns import Reruns
from adapters.outbound.storage.pool import Database
from domain.conversations.model import MessageId
from domain.web_chat.model import ChatPlace
from ports.conversations import Rerun


class PostgresActions:
    """`inbound` and `outbound` wake the workers of both queues; `delete` removes those of some blobs that nothing
    uses; `chat_changed` tells the readers of a conversation of the web chat."""

    def __init__(
        self,
        database: Database,
        inbound: Callable[[], None],
        outbound: Callable[[], None],
        delete: Callable[[Sequence[str]], Awaitable[object]],
        chat_changed: Callable[[ChatPlace], None],
    ) -> None:
        self._handlers = PostgresHandlers(database)
        self._reruns = Reruns(database, inbound, outbound)
        self._erasure = Erasure(database)
        self._inbound = inbound
        self._delete = delete
        self._chat_changed = chat_changed

    async def hold(self, instance_id: int, session_id: str, user_id: str, minutes: int) -> bool:
        return await self._handlers.hold(instance_id, session_id, user_id, minutes)

    async def hand_back(self, instance_id: int, session_id: str) -> bool:
        is_known = await self._handlers.hand_back(instance_id, session_id)
        self._inbound()
        return is_known

    async def rerun(self, instance_id: int, message: MessageId) -> Rerun:
        return await self._reruns.rerun(instance_id, message)

    async def erase(self, instance_id: int, session_id: str) -> bool:
        """A blob that is not removed here, as this process dies, is removed with those that nobody uses."""
        blobs = await self._erasure.erase(instance_id, session_id)
        if blobs:
            await self._delete(blobs)
        self._chat_changed(ChatPlace(instance_id, session_id))
        return blobs is not None
