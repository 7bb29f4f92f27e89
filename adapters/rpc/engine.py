"""Serves and calls the unary RPCs of a gRPC service by a table: one line for each RPC names the method of a use case.

Requests, arguments and answers are converted by the type hints of the method and the descriptors of the messages, for
both sides: `Service.handler` makes the server, `Service.methods` the client.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from functools import cached_property
from types import NoneType, SimpleNamespace
from typing import Any, Protocol, TypeVar, cast, get_origin, get_type_hints

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from adapters.rpc import messages
from adapters.rpc.streams import fitting, page
from domain.access.model import Caller
from domain.paging import DEFAULT_LIMIT
from domain.use_cases import GROUPS

DEADLINE = 15.0
"""Seconds that a call has; one that may wait for a platform or a pairing code gets more."""
LARGEST_OFFSET = 2**63 - 1

G = TypeVar("G")
Arguments = dict[str, Any]
Handler = Callable[[Any, Any], Any]
"""A method of a servicer: request (or an iterator of them), context."""


class Paging(Enum):
    """How a list crosses that may be longer than a message."""

    NONE = "none"
    TOKEN = "token"  # noqa: S105 - no secret
    """The use case returns the whole list; each answer has the token of the next."""
    OFFSET = "offset"
    """The use case returns a window of a list. The answer holds the beginning of it; the client asks for the rest."""


@dataclass(frozen=True)
class Rpc:
    """An RPC and the method of the use case that it stands for.

    `deadline`: seconds. `may_repeat`: another core may be asked when one goes away over the call. `renamed`:
    parameters by the fields of the request. `defaults`: contents of fields of the request that are not set.
    `arguments` changes the arguments before the use case is called. `answer` makes the response of its result,
    `result` what the client returns of the response. `as_gateway`: the call carries no caller's credential.
    """

    method: Callable[..., Awaitable[Any]]
    deadline: float = DEADLINE
    may_repeat: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    paging: Paging = Paging.NONE
    arguments: Callable[[Any, Arguments], Arguments] | None = None
    answer: Callable[[Any], Message] | None = None
    result: Callable[[Any], Any] | None = None
    as_gateway: bool = False

    @cached_property
    def use_case(self) -> type:
        return getattr(sys.modules[self.method.__module__], self.method.__qualname__.split(".")[0])  # type: ignore[no-any-return]

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.method)

    @cached_property
    def has_caller(self) -> bool:
        return "caller" in self.signature.parameters

    @cached_property
    def returned(self) -> Any:
        return get_type_hints(self.method)["return"]

    def parameters(
        self, request: type[Message], names: Mapping[str, str]
    ) -> Mapping[str, messages.Parameter]:
        """The parameters behind the caller, each with the field of the request that holds it."""
        hints = get_type_hints(self.method)
        attributes = messages.attributes_of(request.DESCRIPTOR, {**names, **self.renamed})
        return {
            name: messages.Parameter.of(
                attributes.get(name),
                hints[name],
                has_default=parameter.default is not inspect.Parameter.empty,
            )
            for name, parameter in self.signature.parameters.items()
            if name not in ("self", "caller")
        }


def read(method: Callable[..., Awaitable[Any]], deadline: float = DEADLINE, **options: Any) -> Rpc:
    """An RPC that may be repeated: it changes nothing, or the same thing once."""
    return Rpc(method, deadline, may_repeat=True, **options)


class Core(Protocol):
    """The connection of a client to the cores."""

    channel: grpc.aio.Channel

    async def call(
        self, method: Callable[..., Any], request: Any, *, deadline: float = ..., metadata: Any = ...
    ) -> Any: ...

    def as_gateway(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class Service:
    """A gRPC service: its RPCs by their names; those without a line are written by hand on both sides. `renamed`:
    parameters of its methods by the fields of its requests."""

    descriptor: ServiceDescriptor
    rpcs: Mapping[str, Rpc] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)

    def path(self, name: str) -> str:
        return f"/{self.descriptor.full_name}/{name}"

    def handler(self, behaviours: Mapping[str, Handler]) -> grpc.GenericRpcHandler[Any, Any]:
        """The server."""
        handlers = {}
        for name, behaviour in behaviours.items():
            method = self.descriptor.methods_by_name[name]
            streams = (method.client_streaming, method.server_streaming)
            kinds = ["stream" if is_stream else "unary" for is_stream in streams]
            handlers[name] = getattr(grpc, f"{'_'.join(kinds)}_rpc_method_handler")(
                behaviour,
                request_deserializer=_request(method).FromString,
                response_serializer=_response(method).SerializeToString,
            )
        return grpc.method_handlers_generic_handler(self.descriptor.full_name, handlers)

    def behaviours(
        self, use_cases: Mapping[type, object], by_hand: Mapping[str, Handler], caller: Callable[[], Caller]
    ) -> Mapping[str, Handler]:
        """The method of each RPC by its name: takes a request and a context, returns a response. `use_cases`: by
        their classes. `by_hand`: methods that are written by hand."""
        table = {
            name: self.behaviour(name, rpc, use_cases[rpc.use_case], caller)
            for name, rpc in self.rpcs.items()
            if name not in by_hand
        }
        return {**table, **by_hand}

    def behaviour(self, name: str, rpc: Rpc, use_case: object, caller: Callable[[], Caller]) -> Handler:
        method = self.descriptor.methods_by_name[name]
        parameters = rpc.parameters(_request(method), self.renamed)
        call, response_class = getattr(use_case, rpc.method.__name__), _response(method)
        contents = {"limit": DEFAULT_LIMIT, **rpc.defaults}
        defaults = {
            entry.name: (entry.has_presence, contents[entry.name])
            for entry in method.input_type.fields
            if entry.name in contents
        }

        async def behaviour(request: Any, context: Any) -> Any:
            for name, (has_presence, content) in defaults.items():
                if not (request.HasField(name) if has_presence else getattr(request, name)):
                    setattr(request, name, content)
            values = {name: messages.take(request, parameter) for name, parameter in parameters.items()}
            arguments = {name: value for name, value in values.items() if value is not messages.OMITTED}
            if rpc.arguments:
                arguments = rpc.arguments(request, arguments)
            returned = await (call(caller(), **arguments) if rpc.has_caller else call(**arguments))
            if rpc.answer:
                return rpc.answer(returned)
            response = response_class()
            _fill_response(response, returned, rpc.paging, getattr(request, "page_token", ""))
            return response

        return behaviour

    def methods(self, core: Core) -> Mapping[tuple[type, str], Callable[..., Awaitable[Any]]]:
        """The client: what calls the RPCs, by the classes of the use cases and the names of their methods."""
        return {
            (rpc.use_case, rpc.method.__name__): self.call(name, rpc, core) for name, rpc in self.rpcs.items()
        }

    def call(self, name: str, rpc: Rpc, core: Core) -> Callable[..., Awaitable[Any]]:
        method = self.descriptor.methods_by_name[name]
        request_class, response_class = _request(method), _response(method)
        parameters = rpc.parameters(request_class, self.renamed)
        stub = core.channel.unary_unary(
            self.path(name),
            request_serializer=request_class.SerializeToString,
            response_deserializer=response_class.FromString,
        )

        async def one(request: Any) -> Any:
            metadata = core.as_gateway() if rpc.as_gateway else None
            return await core.call(stub, request, deadline=rpc.deadline, metadata=metadata)

        async def call(*positional: Any, **named: Any) -> Any:
            arguments = rpc.signature.bind(None, *positional, **named).arguments
            request: Any = request_class()
            for name, parameter in parameters.items():
                if name in arguments:
                    messages.put(request, parameter, arguments[name])
            limit, offset = getattr(request, "limit", 0), getattr(request, "offset", 0)
            response = last = await one(request)
            while rpc.paging is Paging.TOKEN and last.next_page_token:
                request.page_token = last.next_page_token
                last = await one(request)
                _entries(response).extend(_entries(last))
            if rpc.paging is Paging.OFFSET:
                while _entries(last) and len(_entries(response)) < min(limit, last.total - offset):
                    request.limit = limit - len(_entries(response))
                    request.offset = min(offset + len(_entries(response)), LARGEST_OFFSET)
                    last = await one(request)
                    _entries(response).extend(_entries(last))
                response.limit, response.offset = limit, offset
            return rpc.result(response) if rpc.result else _result(response, rpc.returned)

        return call


def _request(method: MethodDescriptor) -> type[Message]:
    return GetMessageClass(method.input_type)


def _response(method: MethodDescriptor) -> type[Message]:
    return GetMessageClass(method.output_type)


def content_field(response: Message) -> messages.Field:
    """The field of a response that holds a list, or a result that is no dataclass."""
    return next(field for field in response.DESCRIPTOR.fields if field.name != "next_page_token")


def _entries(response: Message) -> Any:
    return getattr(response, content_field(response).name)


def _fill_response(response: Any, returned: Any, paging: Paging, token: str) -> None:
    if is_dataclass(returned):
        messages.fill(response, returned)
    elif returned is not None:
        messages.write(response, content_field(response), returned)
    if paging is Paging.TOKEN:
        kept, response.next_page_token = page(list(_entries(response)), token)
    elif paging is Paging.OFFSET:
        kept = fitting(_entries(response))
    else:
        return
    response.ClearField(content_field(response).name)
    _entries(response).extend(kept)


def _result(response: Message, hint: Any) -> Any:
    if hint is NoneType:
        return None
    if is_dataclass(get_origin(hint) or hint):
        return messages.to_value(response, hint)
    return messages.take(response, messages.Parameter(content_field(response), hint, messages.REQUIRED))


def use_cases_of(group: Any) -> Mapping[type, object]:
    """The use cases of a dataclass by their classes."""
    use_cases: dict[type, object] = {}
    for name, hint in get_type_hints(type(group)).items():
        use_cases |= use_cases_of(getattr(group, name)) if hint in GROUPS else {hint: getattr(group, name)}
    return use_cases


def remote(group: type[G], methods: Mapping[tuple[type, str], Callable[..., Any]]) -> G:
    """The same dataclass over methods that call a core, by the classes of the use cases and names."""
    use_cases: dict[str, Any] = {}
    for name, hint in get_type_hints(group).items():
        own = {method: call for (use_case, method), call in methods.items() if use_case is hint}
        use_cases[name] = remote(cast(Any, hint), methods) if hint in GROUPS else SimpleNamespace(**own)
    return group(**use_cases)


def public_methods(written: object) -> Mapping[str, Callable[..., Any]]:
    return {name: getattr(written, name) for name in dir(written) if not name.startswith("_")}
