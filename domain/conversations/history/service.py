"""Conversations for those who look after an instance: lists, handover to a person, running again, erasure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain import limits
from domain.access.model import Caller
from domain.conversations.addresses import with_addresses
from domain.conversations.history.rules import checked_minutes
from domain.conversations.message_ids import parse_message_id
from domain.conversations.model import (
    ConversationFilter,
    ConversationPage,
    ConversationView,
    Handler,
    MessagePage,
    MessagesWanted,
)
from domain.instances.lookup.service import known_channel, owned_instance
from domain.paging import checked_limit
from domain.refusals import Conflict, Fault, Invalid, NotFound
from ports.channels import Channels
from ports.conversations import ConversationActions, HistoryStore, Rerun, SenderUsers
from ports.files import FileLinks
from ports.instances import InstanceStore


@dataclass(eq=False)
class HistoryService:
    """`ports.use_cases.Conversations`."""

    instances: InstanceStore
    channels: Channels
    store: HistoryStore
    actions: ConversationActions
    users: SenderUsers
    links: FileLinks

    async def list(
        self, caller: Caller, instance_id: int, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> ConversationPage:
        instance = await owned_instance(self.instances, caller, instance_id)
        if fault := limits.text_fault(wanted.query, limits.CONVERSATION_QUERY):
            raise Invalid.of([Fault("query", fault)])
        page = await self.store.conversations(instance_id, wanted, checked_limit(limit), cursor)
        if known_channel(self.channels, instance.channel_id).definition.identifies(instance.config):
            page = replace(page, conversations=await self._with_users(page.conversations))
        return page

    async def _with_users(self, views: Sequence[ConversationView]) -> Sequence[ConversationView]:
        users = await self.users.users_of([each for view in views for each in view.sender.identities])
        named = []
        for view in views:
            user_id = next((users[each] for each in view.sender.identities if each in users), None)
            named.append(replace(view, sender=replace(view.sender, user_id=user_id)))
        return named

    async def messages(
        self, caller: Caller, instance_id: int, session_id: str, wanted: MessagesWanted
    ) -> MessagePage:
        await owned_instance(self.instances, caller, instance_id)
        checked_limit(wanted.limit)
        page = await self.store.messages(instance_id, session_id, wanted)
        if page is None:
            raise _unknown(session_id)
        return self._with_addresses(page)

    async def failed(self, caller: Caller, instance_id: int, limit: int, cursor: str | None) -> MessagePage:
        await owned_instance(self.instances, caller, instance_id)
        return self._with_addresses(await self.store.failed(instance_id, checked_limit(limit), cursor))

    async def set_handler(
        self, caller: Caller, instance_id: int, session_id: str, handler: Handler, minutes: int | None
    ) -> None:
        await owned_instance(self.instances, caller, instance_id)
        checked = checked_minutes(minutes)
        if handler is Handler.PERSON:
            is_known = await self.actions.hold(instance_id, session_id, checked)
        else:
            is_known = await self.actions.hand_back(instance_id, session_id)
        if not is_known:
            raise _unknown(session_id)

    async def rerun(self, caller: Caller, instance_id: int, message_id: str) -> None:
        await owned_instance(self.instances, caller, instance_id)
        message = parse_message_id(message_id)
        result = await self.actions.rerun(instance_id, message) if message else Rerun.UNKNOWN
        if result is Rerun.UNKNOWN:
            raise NotFound(f"the instance has no message {message_id[:50]}")
        if result is Rerun.NOT_FAILED:
            raise Conflict("the message was not given up: it waits, is on its way, or has been dealt with")

    async def erase(self, caller: Caller, instance_id: int, session_id: str) -> None:
        await owned_instance(self.instances, caller, instance_id)
        if not await self.actions.erase(instance_id, session_id):
            raise _unknown(session_id)

    def _with_addresses(self, page: MessagePage) -> MessagePage:
        return replace(page, messages=[with_addresses(message, self.links) for message in page.messages])


def _unknown(session_id: str) -> NotFound:
    return NotFound(f"the instance has no conversation '{session_id[:100]}'")
