"""Reads conversations, and lets people take them over."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from domain import limits
from domain.access.model import Caller
from domain.channels.messages import Identity
from domain.conversations.model import (
    ConversationFilter,
    ConversationView,
    Handler,
    Message,
    MessagesWanted,
    parse_message_id,
)
from domain.files import StoredFiles
from domain.instances.lookup import check_owned, owned_instance
from domain.instances.model import Instance
from domain.paging import Page, checked_limit
from domain.refusals import Conflict, Fault, Invalid, NotFound
from ports.access import IdentityStore
from ports.channels import Channels
from ports.conversations import ConversationStore, MessageStore, Rerun
from ports.files import SharedFile
from ports.instances import InstanceStore

MOST_INSTANCES = 100
"""Instances that one list may name."""

HANDLER_MINUTES = 60
"""How long a person has a conversation who says nothing else."""
MOST_MINUTES = 10_080
"""A week."""


def checked_minutes(minutes: int | None) -> int:
    """Raises `Invalid`."""
    if minutes is None:
        return HANDLER_MINUTES
    if not 1 <= minutes <= MOST_MINUTES:
        raise Invalid.of([Fault("minutes", f"must be a whole number from 1 to {MOST_MINUTES}")])
    return minutes


def filter_faults(wanted: ConversationFilter) -> Iterator[Fault]:
    """Yields the faults of a list request."""
    if fault := limits.text_fault(wanted.query, limits.CONVERSATION_QUERY):
        yield Fault("query", fault)
    if len(set(wanted.instance_ids)) > MOST_INSTANCES:
        yield Fault("instanceId", f"must name at most {MOST_INSTANCES} instances")


def with_addresses(message: Message, links: StoredFiles) -> Message:
    """The message, each file that we hold a copy of with a signed address that expires."""
    files = [
        file
        if file.blob is None
        else replace(file, url=links.address(SharedFile(file.blob, file.name, file.mime_type)))
        for file in message.files
    ]
    return replace(message, files=files)


@dataclass(eq=False)
class HistoryService:
    """The conversations of instances. Each method raises `NotFound`, `Forbidden`; lists raise `Invalid` for a bad
    limit or cursor."""

    instances: InstanceStore
    channels: Channels
    conversations: ConversationStore
    stored: MessageStore
    users: IdentityStore
    links: StoredFiles

    async def list(
        self, caller: Caller, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> Page[ConversationView, str]:
        """Those of the instances that the filter names, or of all of the caller's (an admin's: of everybody), the
        latest first."""
        if faults := [*filter_faults(wanted)]:
            raise Invalid.of(faults)
        await check_owned(self.instances, caller, wanted.instance_ids)
        page = await self.conversations.list(caller.scope, wanted, checked_limit(limit), cursor)
        return replace(page, items=await self._with_users(page.items))

    async def _with_users(self, views: Sequence[ConversationView]) -> Sequence[ConversationView]:
        """The views, with the users for whom senders are verified where their instances ask for that."""
        identified = {view.instance_id for view in views if view.sender.identities}
        instances = await self.instances.of_ids(sorted(identified)) if identified else ()
        asking = {
            instance.id: instance
            for instance in instances
            if (channel := self.channels.find(instance.channel_id))
            and channel.definition.identifies(instance.config)
        }
        named = [view for view in views if view.instance_id in asking]
        users = await self.users.users_of([identity for view in named for identity in view.sender.identities])
        return [
            _with_user(view, users, asking[view.instance_id]) if view.instance_id in asking else view
            for view in views
        ]

    async def messages(
        self, caller: Caller, instance_id: int, session_id: str, wanted: MessagesWanted
    ) -> Page[Message, str]:
        """In the order of the chat."""
        await owned_instance(self.instances, caller, instance_id)
        checked_limit(wanted.limit)
        page = await self.stored.of_session(instance_id, session_id, wanted)
        if page is None:
            raise _unknown(session_id)
        return self._with_addresses(page)

    async def failed(
        self, caller: Caller, instance_id: int, limit: int, cursor: str | None
    ) -> Page[Message, str]:
        """The messages of both directions that were given up, the latest first."""
        await owned_instance(self.instances, caller, instance_id)
        messages, following = await self.stored.failed([instance_id], None, checked_limit(limit), cursor)
        return self._with_addresses(Page([message for _, message in messages], following))

    async def set_handler(
        self, caller: Caller, instance_id: int, session_id: str, handler: Handler, minutes: int | None
    ) -> None:
        """Gives a conversation to a person for some minutes, or back to the resource. Raises `Invalid`."""
        await owned_instance(self.instances, caller, instance_id)
        checked = checked_minutes(minutes)
        if handler is Handler.PERSON:
            is_known = await self.conversations.hold(instance_id, session_id, caller.user_id, checked)
        else:
            is_known = await self.conversations.hand_back(instance_id, session_id)
        if not is_known:
            raise _unknown(session_id)

    async def rerun(self, caller: Caller, instance_id: int, message_id: str) -> None:
        """Has a message that was given up processed or sent again. Raises `Conflict` for another one."""
        await owned_instance(self.instances, caller, instance_id)
        message = parse_message_id(message_id)
        result = await self.stored.rerun(instance_id, message) if message else Rerun.UNKNOWN
        if result is Rerun.UNKNOWN:
            raise NotFound(f"the instance has no message {message_id[:50]}")
        if result is Rerun.NOT_FAILED:
            raise Conflict("the message was not given up: it waits, is on its way, or has been dealt with")

    async def erase(self, caller: Caller, instance_id: int, session_id: str) -> None:
        """Erases the texts and files of a conversation and all that is on record of it."""
        await owned_instance(self.instances, caller, instance_id)
        if not await self.conversations.erase(instance_id, session_id):
            raise _unknown(session_id)

    def _with_addresses(self, page: Page[Message, str]) -> Page[Message, str]:
        return replace(page, items=[with_addresses(message, self.links) for message in page.items])


def _with_user(view: ConversationView, users: Mapping[Identity, str], instance: Instance) -> ConversationView:
    only_user = instance.only_user(view.sender.proof)
    verified = (users[identity] for identity in view.sender.identities if identity in users)
    user_id = next((user for user in verified if only_user in (None, user)), None)
    return replace(view, sender=replace(view.sender, user_id=user_id))


def _unknown(session_id: str) -> NotFound:
    return NotFound(f"the instance has no conversation '{session_id[:100]}'")
