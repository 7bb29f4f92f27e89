"""People over REST."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from adapters.inbound.rest.bodies import Answer, Body, Id, OptionalTimestamp, Text, Timestamp, attribute
from adapters.inbound.rest.conversations import Next
from adapters.inbound.rest.routing import Call, CursorPage, EmptyIsNone, JsonRoute, errors, id_in_path
from domain import limits
from domain.channels.messages import Identity
from domain.paging import Page
from domain.people import model
from domain.people.model import PeopleFilter, PersonChange, SessionName, Split

PEOPLE = "/api/agent/people"
PERSON = PEOPLE + "/{personId}"

router = APIRouter(route_class=JsonRoute, tags=["people"])

PersonId = Annotated[int, id_in_path("personId", "Id of a person.", 7)]
RequestId = Annotated[int, id_in_path("requestId", "Id of an export or an erasure.", 3)]


class PersonIdentity(Answer):
    field: str = Field(examples=["email"])
    value: str = Field(examples=["ada@example.com"])


class PersonConversation(Answer):
    instanceId: int
    channelId: str = Field(examples=["email"])
    channelName: str = Field(examples=["Support"])
    sessionId: str = Field(examples=["C0123456789"])
    senderId: str = Field(description="Id of the person at the platform.", examples=["U0123456789"])
    senderName: str = Field(description="Empty where the platform tells none.", examples=["Ada"])
    firstAt: Timestamp
    lastAt: Timestamp


class Person(Answer):
    id: int = Field(examples=[7])
    owner: str = Field(description="Owner of the instances.", examples=["ann"])
    name: str = Field(description="Set by hand, or what the platforms tell.", examples=["Ada Lovelace"])
    language: str | None = Field(
        description="Set by hand, or what the platforms tell; null where they tell none.", examples=["en"]
    )
    labels: list[str] = Field(examples=[["vip"]])
    identities: list[PersonIdentity] = Field(description="Proved by the messages.")
    userIds: list[str] = Field(
        description="The platform users that the identities are verified for, where instances identify senders.",
        examples=[["bob"]],
    )
    conversations: list[PersonConversation] = Field(
        description="The latest ones: 10 in a list, 1000 of one person."
    )
    conversationCount: int = Field(description="Number of all conversations.", examples=[3])
    firstAt: Timestamp
    lastAt: Timestamp = Field(description="The latest message; up to a minute late.")


class PersonList(Answer):
    people: list[Person] = attribute("items")
    next: Next


async def _wanted(
    query: Annotated[
        str,
        Query(
            max_length=limits.CONVERSATION_QUERY,
            description="Looked for in names, in ids at the platforms and in identities.",
            examples=["ada@example.com"],
        ),
    ] = "",
    label: Annotated[
        str | None,
        EmptyIsNone,
        Query(max_length=limits.LABEL, description="Only those who have this label.", examples=["vip"]),
    ] = None,
) -> PeopleFilter:
    return PeopleFilter(query, label)


@router.get(PEOPLE, response_model=PersonList, responses=errors(400), summary="People, the latest first")
async def list_people(
    call: Call, wanted: Annotated[PeopleFilter, Depends(_wanted)], page: CursorPage
) -> Page[model.Person, str]:
    """Who writes in the conversations of all instances that the caller sees. One entry for
    each person over all channels: conversations with the same proved identity, or of the same verified user, are
    joined by themselves. New senders appear within some seconds."""
    return await call.services.people.list(call.caller, wanted, page.limit, page.cursor)


class PrivacyRequest(Answer):
    id: int = Field(examples=[3])
    kind: Literal["export", "erase"]
    personId: int = Field(examples=[7])
    owner: str = Field(description="Owner of the instances.", examples=["ann"])
    requestedBy: str = Field(examples=["ann"])
    state: Literal["pending", "running", "done", "failed"] = Field(
        description="Failed: given up after several tries. It may be requested again."
    )
    done: int = Field(description="Conversations that are done.", examples=[2])
    total: int = Field(description="Conversations when it was requested.", examples=[3])
    error: str | None = Field(description="Why the last try failed.", examples=[None])
    url: str | None = Field(
        description="Signed address of the ZIP of an export that is done, until it expires.",
        examples=["https://bots.example.com/api/agent/files/eyJ/person-7.zip"],
    )
    size: int | None = Field(description="Bytes of the ZIP.", examples=[48213])
    createdAt: Timestamp
    finishedAt: OptionalTimestamp
    expiresAt: OptionalTimestamp


class PrivacyRequestList(Answer):
    requests: list[PrivacyRequest] = attribute("items")
    next: Next


@router.get(
    PEOPLE + "/requests",
    response_model=PrivacyRequestList,
    responses=errors(400),
    summary="Exports and erasures of people, the latest first",
)
async def list_privacy_requests(call: Call, page: CursorPage) -> Page[model.PrivacyRequest, str]:
    """Those for the people of the caller's instances and those that the caller made; an admin's: all of them. They
    are listed for 90 days."""
    return await call.services.privacy.list(call.caller, page.limit, page.cursor)


@router.get(
    PEOPLE + "/requests/{requestId}",
    response_model=PrivacyRequest,
    responses=errors(403, 404),
    summary="How far an export or an erasure is",
)
async def get_privacy_request(call: Call, request: RequestId) -> model.PrivacyRequest:
    """With the address of the ZIP once an export is done."""
    return await call.services.privacy.get(call.caller, request)


@router.post(
    PERSON + "/export",
    status_code=202,
    response_model=PrivacyRequest,
    responses=errors(403, 404),
    summary="Export a person",
)
async def export_person(call: Call, person: PersonId) -> model.PrivacyRequest:
    """Writes all that is on record of a person into a ZIP of JSON and files, in the background. An export that is
    still open is answered with that one."""
    return await call.services.privacy.export(call.caller, person)


@router.post(
    PERSON + "/erase",
    status_code=202,
    response_model=PrivacyRequest,
    responses=errors(403, 404),
    summary="Erase a person",
)
async def erase_person(call: Call, person: PersonId) -> model.PrivacyRequest:
    """Erases all conversations of a person, their exports and the person, in the background and for good. Repeated,
    it is answered with the same request, also when that is done. A person who writes again is a new one."""
    return await call.services.privacy.erase(call.caller, person)


@router.get(PERSON, response_model=Person, responses=errors(403, 404), summary="A person")
async def get_person(call: Call, person: PersonId) -> model.Person:
    """With up to 1000 of their conversations."""
    return await call.services.people.get(call.caller, person)


class PersonFields(Body):
    name: Text | None = Field(
        None,
        max_length=limits.PERSON_NAME,
        description="Empty: what the platforms tell. Left out, a field stays as it is.",
        examples=["Ada Lovelace"],
    )
    language: Text | None = Field(
        None, max_length=limits.LANGUAGE, description="Empty: what the platforms tell.", examples=["en"]
    )
    labels: list[Annotated[Text, Field(max_length=limits.LABEL)]] | None = Field(
        None, max_length=limits.LABELS, examples=[["vip"]]
    )


class MergedPeople(Body):
    personIds: list[Id] = Field(
        min_length=1,
        max_length=limits.MERGED_PEOPLE,
        description="The others, who are gone then.",
        examples=[[8]],
    )


class SplitConversation(Body):
    instanceId: Id
    sessionId: Annotated[Text, Field(max_length=limits.SESSION_ID, examples=["C0123456789"])]


class SplitIdentity(Body):
    field: Annotated[Text, Field(max_length=limits.CHANNEL_ID, examples=["email"])]
    value: Annotated[Text, Field(max_length=limits.IDENTITY_VALUE, examples=["ada@example.com"])]


class SplitPerson(Body):
    conversations: list[SplitConversation] = Field([], max_length=limits.SPLIT_ENTRIES)
    identities: list[SplitIdentity] = Field(
        [],
        max_length=limits.SPLIT_ENTRIES,
        description="The conversations in which one of them was proved.",
    )


@router.put(PERSON, response_model=Person, responses=errors(400, 403, 404), summary="Change a person")
async def change_person(call: Call, person: PersonId, body: PersonFields) -> model.Person:
    """Sets name, language and labels by hand."""
    labels = None if body.labels is None else tuple(body.labels)
    change = PersonChange(body.name, body.language, labels)
    return await call.services.people.change(call.caller, person, change)


@router.post(
    PERSON + "/merge",
    response_model=Person,
    responses=errors(400, 403, 404, 409),
    summary="Merge other people into a person",
)
async def merge_people(call: Call, person: PersonId, body: MergedPeople) -> model.Person:
    """Gives the person the conversations, identities and labels of the others, and a name and language that were set
    by hand where the person has none."""
    return await call.services.people.merge(call.caller, person, body.personIds)


@router.post(
    PERSON + "/split",
    status_code=201,
    response_model=Person,
    responses=errors(400, 403, 404),
    summary="Split conversations or identities from a person",
)
async def split_person(call: Call, person: PersonId, body: SplitPerson) -> model.Person:
    """Makes a new person of them. From then on neither of both is joined with anybody by itself."""
    split = Split(
        tuple(SessionName(named.instanceId, named.sessionId) for named in body.conversations),
        tuple(Identity(identity.field, identity.value) for identity in body.identities),
    )
    return await call.services.people.split(call.caller, person, split)
