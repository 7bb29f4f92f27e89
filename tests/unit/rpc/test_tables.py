"""The tables of RPCs fit the protos and the use cases: each value crosses in both directions as it was."""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from switchboard.channels.v1 import instances_pb2
from switchboard.knowledge.v1 import knowledge_pb2

from adapters.rpc.engine import Paging, Rpc, Service, content_field
from adapters.rpc.messages import attributes_of, hints_of, renamed_in, to_message, to_value
from adapters.rpc.metadata import client_address
from adapters.rpc.tables import REPEATABLE, SERVICES
from domain.access.model import Caller
from domain.access.sharing import Grantee
from domain.channels.answers import Artifact, Choice
from domain.channels.model import ChannelDefinition, ConfigField
from domain.conversations.model import ConversationSender
from domain.instances.model import NewInstance
from domain.knowledge.rules import SearchOptions
from domain.paging import Slice, Window
from domain.refusals import Invalid
from domain.subscriptions.model import Subscription
from tests.support.source_files import ROOT

ANN = Caller("ann")
BY_HAND = {
    "AccessService/WhoAmI",
    "CallbackService/HandleCallback",
    "CallbackService/StreamAnswer",
    "CallbackService/StreamCallbacks",
    "Events/Watch",
    "KnowledgeService/Download",
    "KnowledgeService/GetFile",
    "KnowledgeService/ListFiles",
    "KnowledgeService/StreamFile",
    "KnowledgeService/Upload",
    "MessageFileService/OpenFile",
    "WebChatService/WatchChat",
}
INSIDE = {
    Artifact: {"blob"},
    ChannelDefinition: {"text_limit", "buttons"},
    ConfigField: {"accepts_number", "check"},
    Choice: {"reference"},
    ConversationSender: {"identities", "proof"},
    Subscription: {"since"},
}
"""Attributes that do not leave the core."""
ROWS = [(service, name, rpc) for service in SERVICES for name, rpc in service.rpcs.items()]
every_row = pytest.mark.parametrize(
    ("service", "name", "rpc"), ROWS, ids=[f"{service.descriptor.name}.{name}" for service, name, _ in ROWS]
)


def sample(hint: Any, *, sparse: bool, name: str = "text") -> Any:
    """A value of a type; `sparse`: without what may be left out."""
    kind = get_origin(hint) or hint
    if kind in (UnionType,) or NoneType in get_args(hint):
        return (
            None
            if sparse
            else sample(next(part for part in get_args(hint) if part is not NoneType), sparse=False)
        )
    if is_dataclass(kind):
        return dataclass_of(hint, sparse=sparse)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)[-1]
    if kind is tuple and Ellipsis not in get_args(hint):
        return tuple(range(len(get_args(hint))))
    if kind in (tuple, list, Sequence):
        item = sample(get_args(hint)[0], sparse=sparse)
        return tuple([item] * 2) if kind is tuple else [item] * 2
    if kind is Literal:
        return get_args(hint)[-1]
    if kind is Mapping:
        return {str: {"a": "b"}, bool: {"email": True}}.get(get_args(hint)[1], {"a": 1})
    return {
        str: name,
        int: 7,
        float: 0.5,
        bool: True,
        bytes: b"\0\xff",
        datetime: datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC),
    }[kind]


def dataclass_of(kind: Any, *, sparse: bool) -> Any:
    hints, origin = hints_of(kind), get_origin(kind) or kind
    return origin(
        **{
            field.name: sample(hints[field.name], sparse=sparse, name=field.name)
            for field in fields(origin)
            if field.name not in INSIDE.get(kind, ())
            and not (sparse and (field.default is not MISSING or field.default_factory is not MISSING))
        }
    )


class Core:
    """Hands requests of a client to the behaviours of the server, as bytes."""

    def __init__(self, service: Service, behaviours: Mapping[str, Callable[..., Awaitable[Any]]]) -> None:
        self.requests = 0
        self.channel: Any = SimpleNamespace(unary_unary=self._method)
        self._service = service
        self._behaviours = behaviours

    def _method(self, path: str, **options: Any) -> Any:
        name = path.rpartition("/")[2]
        method = self._service.descriptor.methods_by_name[name]
        request_class = type(to_empty(method.input_type))

        async def call(request: Any) -> Any:
            self.requests += 1
            parsed = request_class.FromString(request.SerializeToString())
            answer = await self._behaviours[name](parsed, None)
            return options["response_deserializer"](answer.SerializeToString())

        return call

    async def call(self, method: Any, request: Any, **_: Any) -> Any:
        return await method(request)

    def as_gateway(self) -> Any:
        return ()


def to_empty(descriptor: Any) -> Any:
    from google.protobuf.message_factory import GetMessageClass

    return GetMessageClass(descriptor)()


class Port:
    """Notes what a method is called with, and returns what it is given."""

    def __init__(self, returned: Any) -> None:
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self._returned = returned

    def __getattr__(self, name: str) -> Any:
        async def call(*positional: Any, **named: Any) -> Any:
            self.calls.append((positional, named))
            return self._returned

        return call


async def crossed(service: Service, rpc: Rpc, arguments: dict[str, Any], returned: Any) -> tuple[Any, Any]:
    """The arguments that the port gets, and what its caller gets."""
    client_address.set("")  # A request that an earlier test made in the same process may have left its own.
    port = Port(returned)
    ports = {each.use_case: port for each in service.rpcs.values()}
    core = Core(service, service.behaviours(ports, {}, lambda: ANN))
    call = service.methods(core)[rpc.use_case, rpc.method.__name__]
    got = await (call(ANN, **arguments) if rpc.has_caller else call(**arguments))
    positional, named = port.calls[0]
    assert positional == ((ANN,) if rpc.has_caller else ())
    return named, got


def arguments_of(rpc: Rpc, *, sparse: bool) -> dict[str, Any]:
    hints = get_type_hints(rpc.method)
    return {
        name: sample(hints[name], sparse=sparse, name=name)
        for name, parameter in rpc.signature.parameters.items()
        if name not in ("self", "caller")
        and not (sparse and parameter.default is not inspect.Parameter.empty)
    }


@every_row
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "full"])
async def test_arguments_and_answers_cross_as_they_are(
    service: Service, name: str, rpc: Rpc, sparse: bool
) -> None:
    arguments = arguments_of(rpc, sparse=sparse)
    returned = sample(rpc.returned, sparse=sparse) if rpc.returned is not NoneType else None
    if rpc.paging is Paging.OFFSET:
        arguments = {**arguments, "limit": 7, "offset": 7}
    named, got = await crossed(service, rpc, arguments, returned)
    defaults = {
        name: parameter.default
        for name, parameter in rpc.signature.parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    assert {**defaults, **named} == {**defaults, **arguments}
    assert got == returned


def used_fields(kind: Any, descriptor: Any) -> Iterator[str]:
    """The fields of a message that a dataclass reads."""
    kind = get_origin(kind) or kind
    hints, attributes = get_type_hints(kind), attributes_of(descriptor, renamed_in(kind, descriptor))
    for name, field in attributes.items():
        if name in hints or isinstance(getattr(kind, name, None), property):
            yield field.name
    for name, hint in hints.items():
        if name not in attributes and is_dataclass(hint):
            yield from used_fields(hint, descriptor)


@every_row
def test_every_field_of_a_request_and_a_response_is_used(service: Service, name: str, rpc: Rpc) -> None:
    """A field that nobody reads was forgotten, or is misspelt."""
    method = service.descriptor.methods_by_name[name]
    used = {"page_token"}
    for parameter in rpc.parameters(type(to_empty(method.input_type)), service.renamed).values():
        used |= (
            {parameter.field.name} if parameter.field else set(used_fields(parameter.hint, method.input_type))
        )
    if name == "ListConversations":
        used.add("instance_id")  # of earlier clients
    assert used >= {field.name for field in method.input_type.fields}
    if rpc.answer or rpc.returned is NoneType:
        return
    written = (
        set(used_fields(rpc.returned, method.output_type))
        if is_dataclass(get_origin(rpc.returned) or rpc.returned)
        else {content_field(to_empty(method.output_type)).name}
    )
    assert written | {"next_page_token"} >= {field.name for field in method.output_type.fields}


def test_every_rpc_is_in_a_table_or_written_by_hand() -> None:
    rpcs = {
        f"{service.descriptor.name}/{name}"
        for service in SERVICES
        for name in service.descriptor.methods_by_name
    }
    in_tables = {f"{service.descriptor.name}/{name}" for service, name, _ in ROWS}
    assert rpcs - in_tables == BY_HAND
    assert in_tables - rpcs == set()


def test_every_service_of_the_protos_is_served() -> None:
    """All but the one that resources serve."""
    declared = {
        line.split()[1]
        for path in (ROOT / "proto/switchboard").rglob("*.proto")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("service ")
    }
    assert declared - {service.descriptor.name for service in SERVICES} == {"ResourceRunner"}


def test_what_changes_something_is_not_repeated() -> None:
    changing = (
        "Create",
        "Update",
        "Delete",
        "Set",
        "Send",
        "Add",
        "Remove",
        "Replay",
        "Drop",
        "Run",
        "Rerun",
        "Ask",
    )
    assert [path for path in REPEATABLE if path.rpartition("/")[2].startswith(changing)] == []


async def test_a_window_that_is_too_long_for_a_message_is_fetched_in_several() -> None:
    service, rpc = next((service, rpc) for service, name, rpc in ROWS if name == "ListChunks")
    page = sample(rpc.returned, sparse=True)
    chunks = [replace(page.items[0], id=str(number), text="x" * 1_000_000) for number in range(8)]

    class Chunks:
        calls = 0

        async def chunks(self, caller: Caller, file_hash: str, limit: int = 5, offset: int = 0) -> Any:
            self.calls += 1
            return Slice(chunks[offset : offset + limit], Window(limit, offset, 8))

    port = Chunks()
    table = Service(service.descriptor, {"ListChunks": rpc}, service.renamed)
    core = Core(table, table.behaviours({rpc.use_case: port}, {}, lambda: ANN))
    got = await table.methods(core)[rpc.use_case, "chunks"](ANN, "f", 7, 1)
    assert [chunk.id for chunk in got.items] == [str(number) for number in range(1, 8)]
    assert got.window == Window(7, 1, 8)
    assert port.calls > 1


async def test_a_number_that_a_field_cannot_hold_is_the_nearest_that_it_can() -> None:
    """So that the core refuses it, as it refuses what is out of bounds."""
    service, rpc = next((service, rpc) for service, name, rpc in ROWS if name == "SetPermission")
    arguments = {"base_id": 2**70, "grantee": Grantee("bob"), "level": -(2**40)}
    named, _ = await crossed(service, rpc, arguments, None)
    assert named == {"base_id": 2**63 - 1, "grantee": Grantee("bob"), "level": -(2**31)}


def test_json_that_is_no_object_and_unknown_words_are_refused_by_name() -> None:
    with pytest.raises(Invalid, match="config_json"):
        to_value(instances_pb2.CreateInstanceRequest(config_json="[]"), NewInstance)
    with pytest.raises(Invalid, match="mode: must be one of hybrid, text, vector"):
        to_value(knowledge_pb2.SearchOptions(mode="semantic"), SearchOptions)


def test_what_is_not_set_keeps_its_default() -> None:
    assert to_value(knowledge_pb2.SearchOptions(), SearchOptions) == SearchOptions()
    assert (
        to_value(to_message(SearchOptions(), knowledge_pb2.SearchOptions), SearchOptions) == SearchOptions()
    )
