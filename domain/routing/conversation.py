"""The state of the work on one conversation, how the work on an event ends early, and texts for senders."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from domain.channels.messages import Event
from domain.channels.provenance import Provenance
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.conversations.forms import FormUpdate, OpenForm
from domain.instances.model import Instance
from domain.routing.indicators import AckReaction, LingeringTyping, RepeatedTyping
from domain.usage.model import UsageMeter
from ports.channels import AnyChannel
from ports.queue import QueueKey


@dataclass(slots=True)
class ConversationContext:
    """A leased conversation, and the state of its current event.

    `has_open_approval`: tool confirmations of the session are stored, so each message may decide one. `draft` names
    the message that shows the unfinished answer, empty for none. `answered`: the resource answered, and all
    attachments were fetched. `automated`: no person is known to have caused the event. `acknowledged`: the platform
    was told that the pressed button was seen. `offered` is the id of the latest message that offered numbered
    choices. `form` is the form that is open, `form_update` what becomes of it with the outcome of the event.
    `asked_by`: the resource whose question the event answers, empty for none or one that is not known. `labels` are
    those of the conversation. `fell_back`: which resource answered in place of another one, and why; empty where none
    had to. `reopens`: the conversation is open again with the event, as no bot wrote it. `usage_meter` counts what
    the runs for the event take.
    """

    instance: Instance
    channel: AnyChannel
    has_open_approval: bool
    draft: str = ""
    answered: bool = False
    automated: bool = False
    acknowledged: bool = False
    typing: RepeatedTyping | None = None
    reaction: AckReaction | None = None
    offered: str | None = None
    asked_by: str = ""
    fell_back: str = ""
    labels: Sequence[str] = ()
    form: OpenForm | None = None
    form_update: FormUpdate | None = None
    reopens: bool = False
    usage_meter: UsageMeter = field(default_factory=UsageMeter)

    @property
    def config(self) -> ChannelConfig:
        return self.channel.config.load(self.instance.config)

    def target(self, event: Event) -> ChannelTarget:
        return self.channel.target.load(event.target)

    def start_typing(self, event: Event) -> None:
        """Shows that the event is being worked on: by the typing indicator, and by a reaction at the message."""
        if self.channel.typing and self.typing is None:
            self.typing = RepeatedTyping(self.channel.typing, self.config, self.target(event))
        emoji = self.channel.definition.ack_reaction(self.instance.config)
        if emoji and event.message_id and (reactions := self.channel.reactions):
            self.reaction = AckReaction(reactions, self.config, self.target(event), event.message_id, emoji)

    def keep_form(self) -> None:
        """Called once the outcome of the event is stored, and with it what becomes of the form."""
        if self.form_update is not None:
            self.form = self.form_update.form

    def linger_typing(self, key: QueueKey, lingering: LingeringTyping) -> None:
        """The sign stays until the answer is sent."""
        if self.typing is not None:
            lingering.linger(key, self.typing)
            self.typing = None

    def stop_typing(self) -> None:
        for shown in (self.typing, self.reaction):
            if shown is not None:
                shown.stop()
        self.typing = self.reaction = None


class ProcessingFailed(Exception):
    """An event that ends in an apology: `user_message` is sent to the sender, `reason` is recorded. `provenance`:
    the resources that were asked."""

    def __init__(self, user_message: str, reason: str, provenance: Provenance | None = None) -> None:
        super().__init__(reason)
        self.user_message = user_message
        self.reason = reason
        self.provenance = provenance


class ResourceFailed(ProcessingFailed):
    """The resource gave no answer. `detail` is why, `is_final`: no other resource may be asked in its place."""

    def __init__(self, user_message: str, detail: str, *, is_final: bool) -> None:
        super().__init__(user_message, f"the downstream resource failed: {detail}")
        self.detail = detail
        self.is_final = is_final


class BudgetUsedUp(ResourceFailed):
    """The resource was not asked, as a budget is used up. `detail` says which one."""

    def __init__(self, detail: str, *, is_final: bool) -> None:
        super().__init__(BUDGET_USED_UP, detail, is_final=is_final)
        self.reason = f"the resource was not asked: {detail}"


T = TypeVar("T")


WITHDRAWN = "withdrawn"
"""The argument of the cancellation of work on a message that is withdrawn. At the end of a process work is cancelled
too, and goes on in another process."""


class Withdrawn(Exception):
    """The message that was worked on is withdrawn: its outcome must not be stored."""


class Withdrawals:
    """The work under way in this process, by the ids of its messages."""

    def __init__(self) -> None:
        self._running: dict[int, asyncio.Task[object] | None] = {}
        self._withdrawn: set[int] = set()

    def withdraw(self, inbox_id: int) -> None:
        if task := self._running.get(inbox_id):
            self._withdrawn.add(inbox_id)
            task.cancel(WITHDRAWN)

    async def run(self, ids: Sequence[int], work: Awaitable[T]) -> T:
        """The result of the work. Raises `Withdrawn`."""
        task = asyncio.current_task()
        self._running.update(dict.fromkeys(ids, task))
        try:
            return await work
        except asyncio.CancelledError:
            is_withdrawn = not self._withdrawn.isdisjoint(ids)
            if task is None or not is_withdrawn or task.uncancel() > 0:
                raise
            raise Withdrawn from None
        finally:
            for id in ids:
                del self._running[id]
            self._withdrawn.difference_update(ids)


APOLOGY = "Sorry, I could not get an answer just now. Please try again in a moment."
BUDGET_USED_UP = "Sorry, I cannot answer any more this month: the budget for my answers is used up."
PROCESSING_FAILED = "Sorry, something went wrong with this message. Please try again."
NO_RESOURCE = "No resource is connected to this channel yet, so nobody can answer."
TOO_MANY_CRASHES = "given up: several workers crashed while they processed this event"


def given_up(tries: int, reason: str) -> str:
    """The recorded reason after several failed tries."""
    return f"given up after {tries} tries: {reason}"


def not_read(files: Sequence[tuple[str, str]]) -> str:
    """The notice for a sender whose files are over a limit: their names, each with the reason."""
    return "\n".join(f"Sorry, I could not read {name}: {reason}." for name, reason in files)


def not_served(address: str) -> str:
    """The notice for a sender who is not verified. `address` is where to verify."""
    return f"Only verified users are served here. Verify your identity at {address} and write again."
