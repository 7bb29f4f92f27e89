"""The people behind conversations, as the owners of the instances see them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.paging import Page, checked_limit
from domain.people.model import PeopleFilter, PeopleScope, Person, PersonChange, Split
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound
from domain.verification.model import check_identity
from ports.audit import Audit
from ports.instances import InstanceStore
from ports.persons import PeopleStore


@dataclass(eq=False)
class PeopleService:
    """The people of a caller's instances, and of those that are shared with the caller; an admin's: of everybody's.
    People of two owners are never one. Who may only VIEW some of a person's instances sees what the person has there.
    Changes need ANSWER on all of them."""

    store: PeopleStore
    instances: InstanceStore
    audit: Audit

    @needs(Scope.CONVERSATIONS_READ)
    async def list(
        self, caller: Caller, wanted: PeopleFilter, limit: int, cursor: str | None
    ) -> Page[Person, str]:
        """The latest first. Raises `Invalid`."""
        limits.check_text("query", wanted.query, limits.CONVERSATION_QUERY)
        limits.check_text("label", wanted.label or "", limits.LABEL)
        shared = [] if caller.is_admin else await self.instances.shared_ids(caller.user_id)
        scope = PeopleScope(caller.scope, tuple(shared))
        return await self.store.list(scope, wanted, checked_limit(limit), cursor)

    @needs(Scope.CONVERSATIONS_READ)
    async def get(self, caller: Caller, person_id: int) -> Person:
        """Raises `NotFound`, `Forbidden`."""
        return await self.permitted(caller, person_id, InstanceLevel.VIEW)

    @needs()
    async def permitted(self, caller: Caller, person_id: int, needed: InstanceLevel) -> Person:
        """A person whom the caller sees; for more than VIEW the level counts on each of the person's instances.
        Raises `NotFound`, `Forbidden`."""
        person = await self.store.find(person_id)
        if person is None:
            raise _unknown(person_id)
        if caller.may_act_for(person.owner):
            return person
        ids = await self.store.instance_ids(person_id)
        levels = await self.instances.levels(caller.user_id, ids)
        if not levels:
            raise Forbidden("the person belongs to the instances of another user")
        lowest = min(levels.get(id, InstanceLevel.NONE) for id in ids)
        if needed > InstanceLevel.VIEW and lowest < needed:
            raise Forbidden(
                f"this needs the permission level {needed} ({needed.name}) on all instances of the person"
            )
        visible = await self.store.find(person_id, [*levels])
        if visible is None:
            raise _unknown(person_id)
        return visible

    @needs(Scope.MESSAGES_SEND)
    async def change(self, caller: Caller, person_id: int, change: PersonChange) -> Person:
        """Raises `NotFound`, `Forbidden`, `Invalid`."""
        await self.permitted(caller, person_id, InstanceLevel.ANSWER)
        checked = _checked_change(change)
        data = {"fields": [field for field in FIELDS if getattr(change, field) is not None]}
        async with self.audit.change(caller, Action.PERSON_CHANGED, person_subject(person_id), data):
            if not await self.store.change(person_id, checked):
                raise _unknown(person_id)
        return await self.permitted(caller, person_id, InstanceLevel.VIEW)

    @needs(Scope.MESSAGES_SEND)
    async def merge(self, caller: Caller, person_id: int, person_ids: Sequence[int]) -> Person:
        """Gives a person the conversations and labels of others, who are gone then. Raises `NotFound`, `Forbidden`,
        `Invalid`."""
        person = await self.permitted(caller, person_id, InstanceLevel.ANSWER)
        others = sorted({*person_ids} - {person_id})
        if not others or len(others) > limits.MERGED_PEOPLE:
            raise Invalid.of([Fault("personIds", f"must name 1 to {limits.MERGED_PEOPLE} other people")])
        for other in others:
            if (await self.permitted(caller, other, InstanceLevel.ANSWER)).owner != person.owner:
                raise Invalid.of(
                    [Fault("personIds", f"person {other} belongs to the instances of another owner")]
                )
        async with self.audit.change(
            caller, Action.PERSON_CHANGED, person_subject(person_id), {"merged": others}
        ):
            if not await self.store.merge(person_id, others):
                raise Conflict("one of these people is gone or is being erased; list them again")
        return await self.permitted(caller, person_id, InstanceLevel.VIEW)

    @needs(Scope.MESSAGES_SEND)
    async def split(self, caller: Caller, person_id: int, split: Split) -> Person:
        """Makes a new person of conversations and identities of one. Raises `NotFound`, `Forbidden`, `Invalid`."""
        await self.permitted(caller, person_id, InstanceLevel.ANSWER)
        entries = len(split.conversations) + len(split.identities)
        if not 1 <= entries <= limits.SPLIT_ENTRIES:
            most = limits.SPLIT_ENTRIES
            raise Invalid.of([Fault("conversations", f"and identities must be 1 to {most} entries together")])
        for identity in split.identities:
            check_identity(identity)
        data: dict[str, object] = {}
        async with self.audit.change(
            caller, Action.PERSON_CHANGED, person_subject(person_id), data
        ) as details:
            new = await self.store.split(person_id, split)
            if new is None:
                raise Invalid.of([Fault("conversations", SPLITS_NOTHING)])
            details["split"] = new
        return await self.permitted(caller, new, InstanceLevel.VIEW)


FIELDS = ("name", "language", "labels")
SPLITS_NOTHING = "and identities must be some of the person's, and leave the person at least one conversation"


def person_subject(person_id: int) -> str:
    """A person as the audit log names them."""
    return f"person:{person_id}"


def _checked_change(change: PersonChange) -> PersonChange:
    """Raises `Invalid`."""
    labels = change.labels
    if labels is not None:
        labels = tuple(dict.fromkeys(label.strip() for label in labels))
        if len(labels) > limits.LABELS:
            raise Invalid.of([Fault("labels", f"must be at most {limits.LABELS}")])
        for label in labels:
            _check_word("labels", label, limits.LABEL)
    for field, text, most in (
        ("name", change.name, limits.PERSON_NAME),
        ("language", change.language, limits.LANGUAGE),
    ):
        if text:
            _check_word(field, text, most)
    return replace(change, labels=labels)


def _check_word(field: str, text: str, most: int) -> None:
    limits.check_filled(field, text, most)
    if not text.isprintable():
        raise Invalid.of([Fault(field, "must not contain control characters")])


def _unknown(person_id: int) -> NotFound:
    return NotFound(f"there is no person {person_id}")
