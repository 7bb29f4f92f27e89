"""Messages that an agent gets, and how they are read from the JSON of a request."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import httpx

MAX_FILE_BYTES = 100_000_000
MAX_DEPTH = 64


class BadMessage(ValueError):
    """A request that is no message of Switchboard; the text names the field."""


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file that the sender attached. Its address is signed and expires: read it while you answer."""

    name: str
    mime_type: str
    size: int | None
    url: str

    async def read(self, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """The bytes of the file. Raises `ValueError` for a larger file, `httpx.HTTPError` where it cannot be read."""
        content = bytearray()
        async with (
            httpx.AsyncClient(timeout=60) as client,
            client.stream("GET", self.url) as response,
        ):
            response.raise_for_status()
            async for piece in response.aiter_bytes():
                self._extend(content, piece, max_bytes)
        return bytes(content)

    def read_blocking(self, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """As `read`, for handlers that are no coroutines."""
        content = bytearray()
        with httpx.Client(timeout=60) as client, client.stream("GET", self.url) as response:
            response.raise_for_status()
            for piece in response.iter_bytes():
                self._extend(content, piece, max_bytes)
        return bytes(content)

    def _extend(self, content: bytearray, piece: bytes, max_bytes: int) -> None:
        content += piece
        if len(content) > max_bytes:
            raise ValueError(f"the file {self.name} has over {max_bytes} bytes")


@dataclass(frozen=True, slots=True)
class Resource:
    """The `downStreamResourceId` of the instance: which agent was asked. Workflows and functions have no index."""

    kind: str
    id: str
    expert_index: int | None = None


@dataclass(frozen=True, slots=True)
class Sender:
    """`user_id` is set where the sender is verified; `verified_by` says by whom: `platform`, `owner` or `service`."""

    external_id: str
    display_name: str | None = None
    user_id: str | None = None
    verified_by: str | None = None


@dataclass(frozen=True, slots=True)
class Quoted:
    """The message that the sender replied to."""

    text: str
    author: str | None = None
    files: tuple[MessageFile, ...] = ()


@dataclass(frozen=True, slots=True)
class EarlierMessage:
    """A message of the thread before the bot was called into it. `at`: ISO 8601, in UTC."""

    text: str
    author: str | None
    at: str


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person decided on a tool: `approved`, `approved_for_session` or `rejected`."""

    confirmation_id: str
    tool: str
    decision: str

    @property
    def is_approved(self) -> bool:
        return self.decision in ("approved", "approved_for_session")


@dataclass(frozen=True, slots=True)
class FormValues:
    """What the sender filled in. `name` is that of the form, empty where it has none."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """A message to an agent, or a person's decision on a tool.

    `choice`: the sender picked `text` from the choices. `reaction`: an emoji that the sender reacted with; `text` is
    empty then. `context`: what the platform says besides. `raw`: the whole request, with fields that this version of
    the SDK does not know.
    """

    text: str
    session_id: str
    request_id: str
    instance_id: int
    channel_id: str
    resource: Resource
    sender: Sender
    files: tuple[MessageFile, ...] = ()
    quoted: Quoted | None = None
    thread: tuple[EarlierMessage, ...] = ()
    approval: Approval | None = None
    approved_tools: tuple[str, ...] = ()
    choice: bool = False
    reaction: str | None = None
    form: FormValues | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def allows(self, tool: str) -> bool:
        """Return True if a person approved this use of the tool, or all of its uses in this session."""
        approved = self.approval is not None and self.approval.tool == tool and self.approval.is_approved
        return approved or tool in self.approved_tools

    def rejects(self, tool: str) -> bool:
        """Return True if a person decided that the tool must not be used."""
        return self.approval is not None and self.approval.tool == tool and not self.approval.is_approved


class _Object:
    """A JSON object and where it stands in the request."""

    def __init__(self, value: Any, at: str = "") -> None:
        if not isinstance(value, dict):
            raise BadMessage(f"{at or 'the request'} is not an object")
        self.value: dict[str, Any] = value
        self.at = at

    def path(self, name: str) -> str:
        return f"{self.at}.{name}" if self.at else name

    def text(self, name: str) -> str:
        text = self.optional(name)
        if text is None:
            raise BadMessage(f"{self.path(name)} is not a string")
        return text

    def optional(self, name: str) -> str | None:
        text = self.value.get(name)
        if text is not None and not isinstance(text, str):
            raise BadMessage(f"{self.path(name)} is not a string")
        return text

    def number(self, name: str) -> int | None:
        number = self.value.get(name)
        if number is not None and type(number) is not int:
            raise BadMessage(f"{self.path(name)} is not a whole number")
        return number

    def flag(self, name: str) -> bool:
        flag = self.value.get(name)
        if flag is not None and not isinstance(flag, bool):
            raise BadMessage(f"{self.path(name)} is not true or false")
        return bool(flag)

    def array(self, name: str) -> Sequence[Any]:
        items = self.value.get(name)
        if items is not None and not isinstance(items, list):
            raise BadMessage(f"{self.path(name)} is not an array")
        return items or []

    def texts(self, name: str) -> tuple[str, ...]:
        items = self.array(name)
        if not all(isinstance(item, str) for item in items):
            raise BadMessage(f"{self.path(name)} is not an array of strings")
        return tuple(items)

    def objects(self, name: str) -> "list[_Object]":
        return [_Object(item, self.path(f"{name}[{at}]")) for at, item in enumerate(self.array(name))]

    def object(self, name: str) -> "_Object | None":
        return None if self.value.get(name) is None else _Object(self.value[name], self.path(name))

    def required(self, name: str) -> "_Object":
        return _Object(self.value.get(name), self.path(name))


def message_of(body: bytes) -> Message:
    """Reads the body of a request, which anybody may have made. Raises `BadMessage`."""
    try:
        value = json.loads(body, parse_constant=_refuse)
    except RecursionError:
        raise BadMessage(f"the request is nested over {MAX_DEPTH} levels deep") from None
    except ValueError:
        raise BadMessage("the request is not JSON") from None
    _check_depth(value)
    return read_message(value)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            member
            for item in level
            if isinstance(item, dict | list)
            for member in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return
    raise BadMessage(f"the request is nested over {MAX_DEPTH} levels deep")


def read_message(value: Any) -> Message:
    """The message in the JSON of a request. Raises `BadMessage`; unknown fields are left in `raw`."""
    request = _Object(value)
    approval, context, form = request.object("approval"), request.object("context"), request.object("form")
    quoted = request.object("quoted")
    return Message(
        text=request.text("text"),
        session_id=request.text("sessionId"),
        request_id=request.text("requestId"),
        instance_id=request.number("instanceId") or 0,
        channel_id=request.text("channelId"),
        resource=_resource(request.required("resource")),
        sender=_sender(request.required("sender")),
        files=_files(request),
        quoted=_quoted(quoted) if quoted else None,
        thread=tuple(_earlier(message) for message in request.objects("thread")),
        approval=_approval(approval) if approval else None,
        approved_tools=request.texts("approvedTools"),
        choice=request.flag("choice"),
        reaction=request.optional("reaction"),
        form=_form(form) if form else None,
        context=context.value if context else {},
        raw=request.value,
    )


def _resource(resource: _Object) -> Resource:
    return Resource(resource.text("kind"), resource.text("id"), resource.number("expertIndex"))


def _sender(sender: _Object) -> Sender:
    return Sender(
        sender.text("externalId"),
        sender.optional("displayName"),
        sender.optional("userId"),
        sender.optional("verifiedBy"),
    )


def _files(owner: _Object) -> tuple[MessageFile, ...]:
    return tuple(
        MessageFile(file.text("name"), file.text("mimeType"), file.number("size"), file.text("url"))
        for file in owner.objects("files")
    )


def _quoted(quoted: _Object) -> Quoted:
    return Quoted(quoted.text("text"), quoted.optional("author"), _files(quoted))


def _earlier(message: _Object) -> EarlierMessage:
    return EarlierMessage(message.text("text"), message.optional("author"), message.text("at"))


def _approval(approval: _Object) -> Approval:
    return Approval(approval.text("confirmationId"), approval.text("tool"), approval.text("decision"))


def _form(form: _Object) -> FormValues:
    values = form.object("values")
    return FormValues(form.optional("name") or "", values.value if values else {})
