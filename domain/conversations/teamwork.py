"""Working together on conversations: assignees, states, labels, notes, and the numbers of an inbox."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.conversations.assignees import AssigneeCheck, teams_of
from domain.conversations.history import conversation_subject, unknown_conversation
from domain.conversations.model import (
    ConversationCounts,
    ConversationState,
    ConversationUpdate,
    Message,
    NewNote,
)
from domain.instances.lookup import permitted_instance
from domain.refusals import Fault, Invalid
from domain.values import iso_milliseconds
from ports.access import TeamStore
from ports.audit import Audit
from ports.conversations import ConversationStore
from ports.instances import InstanceStore
from ports.system import Clock

MOST_LABELS = 50
MOST_MENTIONS = 20
LONGEST_SNOOZE = timedelta(days=366)
_MENTION = re.compile(r"(?<![\w@.])@([\w][\w.+@-]{0,199})")


def mentions_in(text: str) -> Sequence[str]:
    """The names behind an @ in a text, in lower case."""
    names = (match[1].rstrip(".+@-").lower() for match in _MENTION.finditer(text))
    return [*dict.fromkeys(names)][:MOST_MENTIONS]


@dataclass(eq=False)
class TeamworkService:
    """Each method of a conversation raises `NotFound` and `Forbidden`."""

    instances: InstanceStore
    conversations: ConversationStore
    assignees: AssigneeCheck
    teams: TeamStore
    audit: Audit
    clock: Clock

    @needs(Scope.MESSAGES_SEND)
    async def change(
        self, caller: Caller, instance_id: int, session_id: str, change: ConversationUpdate
    ) -> None:
        """Assigns, snoozes, closes, opens or labels a conversation. Raises `Invalid`."""
        instance = await permitted_instance(self.instances, caller, instance_id, InstanceLevel.ANSWER)
        if change.labels is not None:
            change = replace(change, labels=_checked_labels(change.labels))
        if change.assignee is not None:
            assignee = await self.assignees.checked(caller, instance, change.assignee)
            change = replace(change, assignee=assignee)
        self._check_state(change)
        subject = conversation_subject(instance_id, session_id)
        async with self.audit.change(caller, Action.CONVERSATION_CHANGED, subject, _shown(change)):
            if not await self.conversations.change(instance_id, session_id, caller.user_id, change):
                raise unknown_conversation(session_id)

    def _check_state(self, change: ConversationUpdate) -> None:
        is_snoozed = change.state is ConversationState.SNOOZED
        now = self.clock.now()
        if change == ConversationUpdate():
            raise Invalid("nothing is changed: give assignee, state or labels")
        if is_snoozed != (change.snoozed_until is not None):
            raise Invalid.of(
                [Fault("snoozedUntil", 'is required with the state "snoozed", and with no other')]
            )
        if change.snoozed_until and not now < change.snoozed_until <= now + LONGEST_SNOOZE:
            raise Invalid.of([Fault("snoozedUntil", "must be within a year from now")])

    @needs(Scope.MESSAGES_SEND)
    async def add_note(self, caller: Caller, instance_id: int, session_id: str, text: str) -> Message:
        """Adds a note, which only those who work on the conversation read. `@name` names a user, by id or name, or a
        team. Raises `Invalid`."""
        instance = await permitted_instance(self.instances, caller, instance_id, InstanceLevel.ANSWER)
        limits.check_filled("text", text, limits.MESSAGE_TEXT)
        mentions = await self.assignees.mentioned(instance, mentions_in(text))
        note = await self.conversations.add_note(
            instance_id, session_id, NewNote(caller.user, text.strip(), mentions)
        )
        if note is None:
            raise unknown_conversation(session_id)
        return note

    @needs(Scope.CONVERSATIONS_READ)
    async def counts(self, caller: Caller) -> ConversationCounts:
        """How many conversations each view of the inbox shows, of those that the caller sees."""
        teams = await teams_of(self.teams, caller.user_id)
        return await self.conversations.counts(caller.scope, caller.user_id, teams)


def _checked_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    if len(labels) > MOST_LABELS:
        raise Invalid.of([Fault("labels", f"must be at most {MOST_LABELS}")])
    for number, label in enumerate(labels):
        limits.check_filled(f"labels[{number}]", label, limits.LABEL)
        if not label.isprintable():
            raise Invalid.of([Fault(f"labels[{number}]", "must be one line, without control characters")])
    return tuple(sorted({label.strip() for label in labels}))


def _shown(change: ConversationUpdate) -> Mapping[str, object]:
    values = {
        "assignee": change.assignee,
        "state": change.state,
        "snoozedUntil": change.snoozed_until and iso_milliseconds(change.snoozed_until),
        "labels": None if change.labels is None else list(change.labels),
    }
    return {name: value for name, value in values.items() if value is not None}
