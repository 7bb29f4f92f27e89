"""Messages that answer none: to a known conversation, to an address, or to the default one."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.channels.answers import Answer, Author
from domain.channels.messages import Target
from domain.conversations import validation
from domain.conversations.choices import offered
from domain.conversations.history import conversation_subject, with_addresses
from domain.conversations.model import (
    Message,
    MessageId,
    MessageKind,
    NewMessage,
    QueuedSend,
    Timeline,
    parse_message_id,
)
from domain.conversations.snippets import SnippetService
from domain.delivery.model import OPTED_OUT
from domain.file_names import file_name
from domain.files import MessageFilesService, StoredFiles
from domain.instances.health import UNDECRYPTED
from domain.instances.lookup import known_channel, permitted_instance, unknown
from domain.instances.model import UNREADABLE, Instance
from domain.paging import LARGEST_LIMIT
from domain.refusals import Conflict, Fault, Invalid, NotFound, PlatformAway
from domain.rendering import render_answer
from domain.routing.model import ResultArtifact
from domain.values import iso_milliseconds
from ports.audit import Audit
from ports.capabilities import OpenRequest, PlatformError
from ports.channels import AnyChannel, Channels
from ports.conversations import MessageStore
from ports.files import FilePlace
from ports.instances import InstanceStore
from ports.outbox import HeldBy, NewSend, SendStore, StoredSend
from ports.queue import Sessions
from ports.system import Ids

log = logging.getLogger(__name__)

FETCH_SECONDS = 30.0
"""What fetching the files of a message may take that somebody looks at."""
OPEN_AGAIN = 10.0
"""Seconds after which a platform that did not answer is asked again to begin a conversation."""


@dataclass(frozen=True, slots=True)
class _Conversation:
    session_id: str
    target: Target
    held_by: str | None = None


@dataclass(eq=False)
class SendingService:
    """Sends messages for an instance. `public_address` is where platforms reach the service, without a last slash."""

    channels: Channels
    sends: SendStore
    sessions: Sessions
    files: MessageFilesService
    ids: Ids
    audit: Audit
    public_address: str

    async def send(
        self, caller: Caller, instance: Instance, message: NewMessage, idempotency_key: str = ""
    ) -> QueuedSend:
        """Stores a user's message to be sent; the same key within 24 hours gives the same answer, and sends nothing.

        Raises `Invalid`, `NotFound` (an unknown session), `Conflict` (the key is another message's, the platform
        takes only templates now, the person wants no messages, or another user has the conversation).
        """
        channel = self._channel(instance)
        validation.check_message(channel, message)
        digest = validation.digest_of(message)
        if idempotency_key and (stored := await self.sends.repeated(instance.id, idempotency_key)):
            return _queued(stored, digest)
        conversation = await self._conversation(instance, channel, message)
        files = [
            ResultArtifact(file.name, file.mime_type or validation.OCTETS, file.url, file.data)
            for file in message.files
        ]
        answer = Answer(
            message.text,
            tuple(await self.files.publish(files, FilePlace(instance.id, conversation.session_id))),
            message.choices,
            template=message.template,
            author=Author.PERSON,
        )
        send = await self._rendered(instance, channel, conversation, answer)
        send = replace(send, idempotency_key=idempotency_key, digest=digest, user_id=caller.user_id)
        if message.session_id is None or message.take_over is False:
            return await self._store(send)
        send = replace(send, taken_by=caller.user_id, forced=message.take_over is True)
        if conversation.held_by == caller.user_id:
            return await self._store(send)
        subject = conversation_subject(instance.id, conversation.session_id)
        async with self.audit.change(
            caller, Action.CONVERSATION_TAKEN, subject, {"from": conversation.held_by}
        ):
            return await self._store(send)

    async def forward(self, instance: Instance, to: str, answer: Answer, idempotency_key: str) -> QueuedSend:
        """Stores a resource's answer to be sent to a session id, to an address, or by default to the default one. The
        same key gives the same answer, whatever the message. Raises as `send`."""
        known = await self.sends.session(instance.id, to) if to else None
        place = NewMessage(session_id=to) if known and known.target else NewMessage(to=to or None)
        return await self._send_answer(instance, place, answer, idempotency_key)

    async def send_result(
        self, instance: Instance, session_id: str, answer: Answer, idempotency_key: str
    ) -> QueuedSend:
        """Stores a resource's answer that comes late, to be sent to its conversation. As `forward` otherwise."""
        return await self._send_answer(instance, NewMessage(session_id=session_id), answer, idempotency_key)

    async def _send_answer(
        self, instance: Instance, place: NewMessage, answer: Answer, idempotency_key: str
    ) -> QueuedSend:
        channel = self._channel(instance)
        if stored := await self.sends.repeated(instance.id, idempotency_key):
            return _queued(stored, "")
        conversation = await self._conversation(instance, channel, place)
        send = await self._rendered(instance, channel, conversation, answer)
        await self.files.share(answer.artifacts, FilePlace(instance.id, conversation.session_id))
        return await self._store(replace(send, idempotency_key=idempotency_key))

    async def _store(self, send: NewSend) -> QueuedSend:
        stored = await self.sends.add(send)
        if stored is None:
            raise unknown(send.instance_id)
        if isinstance(stored, HeldBy):
            raise Conflict(
                f"{stored.user_id} has this conversation until {iso_milliseconds(stored.until)}, and nothing was"
                " sent; send the message with takeOver true to take the conversation over, or false to leave it with"
                " them"
            )
        return _queued(stored, send.digest)

    def _channel(self, instance: Instance) -> AnyChannel:
        """Raises `Invalid` where it cannot send, `Conflict` where the configuration cannot be read."""
        channel = known_channel(self.channels, instance.channel_id)
        if channel.sender is None:
            raise Invalid(f"the channel '{instance.channel_id}' cannot send messages")
        if instance.status == UNREADABLE:
            raise Conflict(UNDECRYPTED)
        return channel

    async def _rendered(
        self, instance: Instance, channel: AnyChannel, conversation: _Conversation, answer: Answer
    ) -> NewSend:
        answer = replace(answer, request_id=self.ids.request_id(), session_id=conversation.session_id)
        id = await self.sends.next_id()
        callback_address = self.public_address + instance.webhook_path
        answer = offered(answer, MessageId(MessageKind.SENT_FIRST, id), self.ids.token(), callback_address)
        config, target = channel.config.load(instance.config), channel.target.load(conversation.target)
        messages, is_numbered = await render_answer(channel, config, target, answer)
        if not messages:
            raise Invalid.of([Fault("text", "there is nothing that could be sent to this conversation")])
        return NewSend(
            id=id,
            instance_id=instance.id,
            session_id=conversation.session_id,
            answer=answer,
            target=conversation.target,
            messages=messages,
            numbered=is_numbered,
        )

    async def _conversation(
        self, instance: Instance, channel: AnyChannel, message: NewMessage
    ) -> _Conversation:
        """Raises `Conflict` where the person wants no messages."""
        if message.session_id is None:
            conversation = await self._opened(instance, channel, message)
            known = None
            if channel.template_rules:
                known = await self.sends.session(instance.id, conversation.session_id)
        else:
            known = await self.sends.session(instance.id, message.session_id)
            if known.target is None and known.silence is not None:
                raise Conflict(validation.NO_ADDRESS)
            if known.target is None:
                raise NotFound(f"the instance has no conversation '{message.session_id[:100]}'")
            target = known.target
            if channel.conversation_target is not None:  # the message answers no event
                continued = channel.conversation_target.continued(channel.target.load(target))
                target = channel.target.dump(continued)
            conversation = _Conversation(message.session_id, target, known.held_by)
        if known:
            validation.check_window(channel.template_rules, message, known.silence)
        if channel.takes_opt_outs and await self.sessions.is_opted_out(instance.id, conversation.session_id):
            raise Conflict(OPTED_OUT)
        return conversation

    async def _opened(self, instance: Instance, channel: AnyChannel, message: NewMessage) -> _Conversation:
        opener = channel.opener
        if opener is None:
            reason = f"the channel '{instance.channel_id}' begins no conversations: give the sessionId of one"
            raise Invalid.of([Fault("to", reason)])
        config = channel.config.load(instance.config)
        to = message.to or opener.default_address(config)
        if not to:
            reason = f"is required, as the instance has no default address: {opener.address}"
            raise Invalid.of([Fault("to", reason)])
        request = OpenRequest(
            to=to,
            subject=message.subject or "",
            instance_id=instance.id,
            callback_address=self.public_address + instance.webhook_path,
        )
        try:
            opened = await opener.open(config, request)
        except PlatformError as error:
            reason = f"no conversation could be begun: {error}"
            if error.transient:
                raise PlatformAway(reason, error.retry_after or OPEN_AGAIN) from None
            raise Invalid.of([Fault("to", reason)]) from None
        return _Conversation(opened.session_id, channel.target.dump(opened.target))


@dataclass(eq=False)
class MessageService:
    """Messages of conversations. Each method raises `NotFound`, `Forbidden`."""

    instances: InstanceStore
    messages: MessageStore
    sending: SendingService
    links: StoredFiles
    files: MessageFilesService
    snippets: SnippetService

    @needs(Scope.MESSAGES_SEND)
    async def send(
        self, caller: Caller, instance_id: int, message: NewMessage, idempotency_key: str | None
    ) -> QueuedSend:
        """Takes in a message to be sent. The same key within 24 hours gives the same answer, and sends nothing.

        Raises `Invalid`, `Conflict` (the key is another message's, the platform takes only templates now, or another
        user has the conversation).
        """
        instance = await permitted_instance(self.instances, caller, instance_id, InstanceLevel.ANSWER)
        if idempotency_key is not None:
            validation.check_key(idempotency_key)
        if message.snippet_id is not None and not message.text:
            message = await self._with_snippet(caller, instance, message, message.snippet_id)
        return await self.sending.send(caller, instance, message, idempotency_key or "")

    async def _with_snippet(
        self, caller: Caller, instance: Instance, message: NewMessage, snippet_id: int
    ) -> NewMessage:
        """The message with the text of a snippet. Raises `Invalid`."""
        try:
            snippet = await self.snippets.get(caller, snippet_id)
        except NotFound as unknown_snippet:
            reason = f"{unknown_snippet.message} to send in place of the text"
            raise Invalid.of([Fault("snippetId", reason)]) from None
        name = ""
        if message.session_id is not None:
            name = (await self.sending.sends.session(instance.id, message.session_id)).name
        return replace(message, text=snippet.text_for(name), snippet_id=None)

    @needs(Scope.CONVERSATIONS_READ)
    async def message(self, caller: Caller, instance_id: int, message_id: str) -> Message:
        instance = await permitted_instance(self.instances, caller, instance_id, InstanceLevel.VIEW)
        parsed = parse_message_id(message_id)
        message = await self.messages.find(instance_id, parsed) if parsed else None
        if parsed is None or message is None:
            raise NotFound(f"the instance has no message '{message_id[:100]}'")
        if parsed.kind is MessageKind.INBOUND and not all(file.blob for file in message.files):
            message = await self._fetched(instance, parsed, message)
        return with_addresses(message, self.links)

    @needs(Scope.CONVERSATIONS_READ)
    async def timelines(
        self, caller: Caller, instance_id: int, message_ids: Sequence[str]
    ) -> Sequence[Timeline]:
        """What happened to these messages, in their order. Raises `Invalid` for too many."""
        await permitted_instance(self.instances, caller, instance_id, InstanceLevel.VIEW)
        if len(message_ids) > LARGEST_LIMIT:
            raise Invalid.of([Fault("messageIds", f"must be at most {LARGEST_LIMIT}")])
        parsed = [parse_message_id(message_id) for message_id in message_ids]
        timelines = await self.messages.timelines(instance_id, [id for id in parsed if id])
        missing = set(message_ids) - {timeline.message_id for timeline in timelines}
        if missing:
            raise NotFound(f"the instance has no message '{min(missing)[:100]}'")
        return timelines

    async def _fetched(self, instance: Instance, id: MessageId, message: Message) -> Message:
        """The message with the files that nobody has fetched from the platform yet: it waits, or a person has its
        conversation."""
        event = await self.messages.event(instance.id, id.row)
        if event is None:
            return message
        names = {file.name for file in message.files if file.blob}
        missing = [file for file in event.attachments if file_name(file.name or "file") not in names]
        place = FilePlace(instance.id, event.session_id, id.row, inbound=True)
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                await self.files.fetch(instance, replace(event, attachments=tuple(missing)), place)
        except TimeoutError:
            log.warning("files of a message take long to fetch", extra={"instance": instance.id})
        return await self.messages.find(instance.id, id) or message


def _queued(stored: StoredSend, digest: str) -> QueuedSend:
    """Raises `Conflict` where another message has the key."""
    if stored.digest and digest and stored.digest != digest:
        raise Conflict("another message was sent with this Idempotency-Key within the last 24 hours")
    return QueuedSend(str(MessageId(MessageKind.SENT_FIRST, stored.id)), stored.session_id)
