"""`ports.conversations.HistoryStore` in PostgreSQL."""

from adapters.outbound.storage.conversations.listing import ConversationListing
from adapters.outbound.storage.conversations.messages import MessageListing
from adapters.outbound.storage.pool import Database
from domain.conversations.model import ConversationFilter, ConversationPage, MessagePage, MessagesWanted


class PostgresHistory:
    def __init__(self, database: Database) -> None:
        self._conversations = ConversationListing(database)
        self._messages = MessageListing(database)

    async def conversations(
        self, owner: str | None, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> ConversationPage:
        return await self._conversations.page(owner, wanted, limit, cursor)

    async def messages(self, instance_id: int, session_id: str, wanted: MessagesWanted) -> MessagePage | None:
        return await self._messages.page(instance_id, session_id, wanted)

    async def failed(self, instance_id: int, limit: int, cursor: str | None) -> MessagePage:
        messages, following = await self._messages.failed([instance_id], None, limit, cursor)
        return MessagePage([message for _, message in messages], following)
