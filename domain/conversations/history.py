"""Reads conversations, and lets people take them over."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.channels.messages import Identity
from domain.conversations.assignees import wanted_assignees
from domain.conversations.model import (
    ConversationFilter,
    ConversationView,
    Handler,
    Message,
    MessagesWanted,
    parse_message_id,
)
from domain.files import StoredFiles
from domain.instances.lookup import permitted_instance, permitted_instances
from domain.instances.model import Instance
from domain.paging import Page, checked_limit
from domain.refusals import Conflict, Fault, Invalid, NotFound
from ports.access import IdentityStore, TeamStore
from ports.audit import Audit
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
    teams: TeamStore
    links: StoredFiles
    audit: Audit

    @needs(Scope.CONVERSATIONS_READ)
    async def list(
        self, caller: Caller, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> Page[ConversationView, str]:
        """Those of the instances that the filter names, or of all of the caller's (an admin's: of everybody), the
        latest first."""
        if faults := [*filter_faults(wanted)]:
            raise Invalid.of(faults)
        await permitted_instances(self.instances, caller, wanted.instance_ids, InstanceLevel.VIEW)
        criteria = replace(wanted, assignees=await wanted_assignees(self.teams, caller, wanted.assignee))
        page = await self.conversations.list(caller.scope, criteria, checked_limit(limit), cursor)
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

    @needs(Scope.CONVERSATIONS_READ)
    async def messages(
        self, caller: Caller, instance_id: int, session_id: str, wanted: MessagesWanted
    ) -> Page[Message, str]:
        """In the order of the chat."""
        await permitted_instance(self.instances, caller, instance_id, InstanceLevel.VIEW)
        checked_limit(wanted.limit)
        page = await self.stored.of_session(instance_id, session_id, wanted)
        if page is None:
            raise unknown_conversation(session_id)
        return self._with_addresses(page)

    @needs(Scope.CONVERSATIONS_READ)
    async def failed(
        self, caller: Caller, instance_id: int, limit: int, cursor: str | None
    ) -> Page[Message, str]:
        """The messages of both directions that were given up, the latest first."""
        await permitted_instance(self.instances, caller, instance_id, InstanceLevel.VIEW)
        messages, following = await self.stored.failed([instance_id], None, checked_limit(limit), cursor)
        return self._with_addresses(Page([message for _, message in messages], following))

    @needs(Scope.MESSAGES_SEND)
    async def set_handler(
        self, caller: Caller, instance_id: int, session_id: str, handler: Handler, minutes: int | None
    ) -> None:
        """Gives a conversation to a person for some minutes, or back to the resource. Raises `Invalid`."""
        await permitted_instance(self.instances, caller, instance_id, InstanceLevel.ANSWER)
        checked = checked_minutes(minutes)
        subject = conversation_subject(instance_id, session_id)
        if handler is Handler.PERSON:
            async with self.audit.change(caller, Action.CONVERSATION_TAKEN, subject, {"minutes": checked}):
                if not await self.conversations.hold(instance_id, session_id, caller.user_id, checked):
                    raise unknown_conversation(session_id)
        else:
            async with self.audit.change(caller, Action.CONVERSATION_RETURNED, subject):
                if not await self.conversations.hand_back(instance_id, session_id):
                    raise unknown_conversation(session_id)

    @needs(Scope.MESSAGES_SEND)
    async def rerun(self, caller: Caller, instance_id: int, message_id: str) -> None:
        """Has a message that was given up processed or sent again. Raises `Conflict` for another one."""
        await permitted_instance(self.instances, caller, instance_id, InstanceLevel.ANSWER)
        message = parse_message_id(message_id)
        if message is None:
            raise NotFound(f"the instance has no message {message_id[:50]}")
        async with self.audit.change(
            caller, Action.MESSAGE_REPLAYED, f"instance:{instance_id}/message:{message}"
        ):
            result = await self.stored.rerun(instance_id, message)
            if result is Rerun.UNKNOWN:
                raise NotFound(f"the instance has no message {message_id[:50]}")
            if result is Rerun.NOT_FAILED:
                raise Conflict(
                    "the message was not given up: it waits, is on its way, or has been dealt with"
                )

    @needs(Scope.MESSAGES_SEND)
    async def erase(self, caller: Caller, instance_id: int, session_id: str) -> None:
        """Erases the texts and files of a conversation and all that is on record of it."""
        await permitted_instance(self.instances, caller, instance_id, InstanceLevel.MANAGE)
        subject = conversation_subject(instance_id, session_id)
        async with self.audit.change(caller, Action.CONVERSATION_ERASED, subject):
            if not await self.conversations.erase(instance_id, session_id):
                raise unknown_conversation(session_id)

    def _with_addresses(self, page: Page[Message, str]) -> Page[Message, str]:
        return replace(page, items=[with_addresses(message, self.links) for message in page.items])


def _with_user(view: ConversationView, users: Mapping[Identity, str], instance: Instance) -> ConversationView:
    only_user = instance.only_user(view.sender.proof)
    verified = (users[identity] for identity in view.sender.identities if identity in users)
    user_id = next((user for user in verified if only_user in (None, user)), None)
    return replace(view, sender=replace(view.sender, user_id=user_id))


def conversation_subject(instance_id: int, session_id: str) -> str:
    """A conversation as the audit log names it. An id may hold what identifies the person, such as a phone number,
    and the log outlives the conversation: it holds a digest."""
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"instance:{instance_id}/conversation:{digest[:16]}"


def unknown_conversation(session_id: str) -> NotFound:
    return NotFound(f"the instance has no conversation '{session_id[:100]}'")
