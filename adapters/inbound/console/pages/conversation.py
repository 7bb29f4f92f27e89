"""The inbox, and one conversation as its sender sees it: its messages and timelines, its handler, answers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.navigation import (
    CONVERSATION_KINDS,
    INBOX,
    conversation_path,
    live_trigger,
    session_of,
)
from adapters.inbound.console.requests import ConsoleRequest, redirect, render, render_part
from domain.access.model import Caller
from domain.access.sharing import InstanceLevel
from domain.channels.answers import Choice
from domain.conversations import model
from domain.conversations.history import HANDLER_MINUTES, MOST_MINUTES
from domain.conversations.validation import digest_of
from domain.events import RESET, EventKind
from domain.instances.model import InstanceView
from domain.limits import CONVERSATION_QUERY, MESSAGE_FILE_BYTES
from domain.refusals import Conflict, Fault, Invalid, NotFound

SHOWN = 20
"""Messages of a page."""
MORE = 10
"""So many further ones are asked for each time that new messages came."""
MOST = 200
ANSWER_FIELDS = ("text", "files", "choices")
LONGEST = 4_000
"""Characters of a message that the conversation shows; all of it has a page of its own."""
MINUTES = ((15, "15 minutes"), (60, "1 hour"), (240, "4 hours"), (1440, "1 day"), (MOST_MINUTES, "1 week"))
EMPTY = {"text": "", "choices": ""}

LISTED = 25
"""Conversations of a page."""
MOST_NAMED = 100
"""Instances that the form offers to choose from."""
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "": ("All", {}),
    "waiting": ("Waiting for an answer", {"waiting": True}),
    "person": ("With a person", {"handler": model.Handler.PERSON}),
    "resource": ("With the bot", {"handler": model.Handler.RESOURCE}),
}
FIELDS = ("query", "state", "instanceId")


@dataclass(frozen=True, slots=True)
class Place:
    """Which conversation a request is about."""

    request: ConsoleRequest
    instance_id: int
    session_id: str

    @classmethod
    def of(cls, request: ConsoleRequest) -> Place:
        """Raises `NotFound`."""
        instance_id = request.instance_id
        return cls(request, instance_id, session_of(request.path_params["session"]))

    @property
    def path(self) -> str:
        return conversation_path(self.instance_id, self.session_id)

    @property
    def key(self) -> tuple[Caller, int, str]:
        """The caller, the instance and the session: what the use cases of a conversation take first."""
        return self.request.caller, self.instance_id, self.session_id

    async def messages(self, limit: int, cursor: str | None) -> tuple[list[model.Message], str | None]:
        """The latest ones up to a cursor, in the order of the chat, and the cursor of earlier ones."""
        window = model.MessagesWanted(limit, cursor, latest_first=True)
        page = await self.request.services.conversations.messages(*self.key, window)
        return [*page.items][::-1], page.next

    async def timelines(self, messages: Sequence[model.Message]) -> Mapping[str, model.Timeline]:
        """What happened to the messages; nothing happens to notes. Raises `NotFound` where one is gone meanwhile."""
        ids = [message.id for message in messages if message.direction is not model.Direction.NOTE]
        timelines = await self.request.services.messages.timelines(self.request.caller, self.instance_id, ids)
        return {timeline.message_id: timeline for timeline in timelines}


async def show(request: ConsoleRequest) -> Response:
    place, query = Place.of(request), request.query_params
    if message_id := query.get("message"):
        # All of a message, with its files: those that nobody has fetched from the platform yet are fetched for it.
        message = await request.services.messages.message(request.caller, place.instance_id, message_id)
        if message.session_id != place.session_id:
            raise NotFound("this message belongs to another conversation")
        values = {
            "place": place,
            "message": message,
            "timelines": await place.timelines([message]),
            "longest": None,
            "agent_url": request.gateway.options.agent_url,
        }
        return render(request, "message.html", values)
    if not request.is_htmx:
        return await _page(place)
    if query.get("part") == "handler":
        return render_part(request, "conversation_handler.html", await _handler_values(place))
    if query.get("part") == "older":
        values = await _message_values(place, SHOWN, query.get("cursor"))
        return render_part(request, "conversation_older.html", {**values, "is_latest": False})
    first, _, asked = query.get("window", "").partition(" ")
    limit = int(asked) if asked.isascii() and asked.isdigit() and 1 <= int(asked[:4]) <= MOST else SHOWN
    values = await _message_values(place, limit, None, first)
    return render_part(request, "conversation_latest.html", values)


async def _page(
    place: Place, typed: Mapping[str, str] = EMPTY, faults: Mapping[str, str] | None = None
) -> Response:
    """The whole page. `typed`: the fields of the answer, `faults`: errors by field."""
    cursor = place.request.query_params.get("cursor") or None
    values = {
        **await _handler_values(place),
        **await _message_values(place, SHOWN, cursor),
        "given": typed,
        "faults": faults or {},
        "is_latest": cursor is None,
    }
    kinds = CONVERSATION_KINDS if cursor is None else ()
    status = 400 if faults else 200
    return render(place.request, "conversation.html", values, status=status, live_kinds=kinds)


async def _handler_values(place: Place) -> dict[str, Any]:
    """Who has the conversation. Raises `NotFound`, `Forbidden`."""
    request = place.request
    this = model.ConversationFilter(instance_ids=(place.instance_id,), session_id=place.session_id)
    page = await request.services.conversations.list(request.caller, this, 1, None)
    if not page.items:
        raise NotFound("there is no such conversation; it may have been erased")
    view = page.items[0]
    level = await request.services.instances.level(request.caller, place.instance_id)
    left = view.held_until and view.held_until - request.gateway.clock.now()
    return {
        "view": view,
        "place": place,
        "may_answer": level >= InstanceLevel.ANSWER,
        "may_erase": level >= InstanceLevel.MANAGE,
        "left": left.total_seconds() if left else None,
        "is_mine": view.held_by == request.caller.user_id,
        "minutes": [(str(minutes), text) for minutes, text in MINUTES],
        "default_minutes": str(HANDLER_MINUTES),
        "handler_trigger": live_trigger((EventKind.CONVERSATION_HANDLER,)),
    }


async def _message_values(place: Place, limit: int, cursor: str | None, first: str = "") -> dict[str, Any]:
    """The messages from `first` on, which the page shows as its first one: what is earlier it has already. `limit` of
    the answer is how many the page asks for the next time."""
    messages, earlier = await place.messages(limit, cursor)
    try:
        timelines = await place.timelines(messages)
    except NotFound:  # an answer goes when its message is run again, also between the two reads
        messages, earlier = await place.messages(limit, cursor)
        timelines = await place.timelines(messages)
    start = next((number for number, message in enumerate(messages) if message.id == first), 0)
    shown = messages[start:]
    return {
        "place": place,
        "messages": shown,
        "first": shown[0].id if shown else "",
        "limit": min(max(SHOWN, len(shown) + MORE), MOST),
        "timelines": timelines,
        "earlier": earlier,
        "last": messages[-1].id if messages else "",
        "longest": LONGEST,
        "trigger": live_trigger(CONVERSATION_KINDS),
        "agent_url": place.request.gateway.options.agent_url,
    }


async def change(request: ConsoleRequest) -> Response:
    """Carries out what a form of the page asks for, its field `do`."""
    place, form = Place.of(request), await request.posted()
    conversations = request.services.conversations
    match form.get("do"):
        case "answer":
            return await _answer(place, form)
        case "take":
            minutes = str(form.get("minutes", ""))
            if not (minutes.isascii() and minutes.isdigit() and len(minutes) < 6):
                raise Invalid.of([Fault("minutes", "must be a whole number")])
            await conversations.set_handler(*place.key, model.Handler.PERSON, int(minutes))
            notice = "The conversation is yours. The bot does not answer until the time is over."
        case "hand_back":
            await conversations.set_handler(*place.key, model.Handler.RESOURCE, None)
            notice = "The bot has the conversation again."
        case "rerun":
            await conversations.rerun(request.caller, place.instance_id, str(form.get("message", "")))
            notice = "The message is run again."
        case "erase":
            await conversations.erase(*place.key)
            return redirect(INBOX, "The conversation was erased.")
        case _:
            raise Invalid.of([Fault("do", "is not something that can be done with a conversation")])
    return redirect(place.path, notice)


async def _answer(place: Place, form: FormData) -> Response:
    """Sends the message once, however often the form is posted: `after` names the message that it was written
    below."""
    request = place.request
    typed = {name: str(form.get(name, "")) for name in EMPTY}
    after = str(form.get("after", ""))
    try:
        message = await answer_of(form, place.session_id)
        content = f"{request.caller.user_id}\n{after}\n{digest_of(message)}"
        key = f"console-{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()}"
        await request.services.messages.send(request.caller, place.instance_id, message, key)
    except (Invalid, Conflict) as refusal:
        faults = faults_by_field(refusal)
        if request.is_htmx:
            return await _composer(place, typed, faults, after)
        return await _page(place, typed, faults)
    if not request.is_htmx:
        return redirect(place.path)
    messages, _ = await place.messages(1, None)
    last = messages[-1].id if messages else ""
    response = await _composer(place, EMPTY, {}, last)
    response.headers["HX-Trigger"] = f"live:{RESET}"
    return response


async def _composer(place: Place, typed: Mapping[str, str], faults: Mapping[str, str], last: str) -> Response:
    """The form for an answer, with the fields that were typed and their errors."""
    values = {**await _handler_values(place), "given": typed, "faults": faults, "last": last}
    return render_part(place.request, "conversation_composer.html", values)


async def answer_of(form: FormData, session_id: str) -> model.NewMessage:
    """The message that the form holds. Raises `Invalid` for files that are too large."""
    uploads = [file for file in form.getlist("files") if isinstance(file, UploadFile) and file.filename]
    if sum(file.size or 0 for file in uploads) > MESSAGE_FILE_BYTES:
        most = MESSAGE_FILE_BYTES // 1024 // 1024
        raise Invalid.of([Fault("files", f"hold over {most} MB together")])
    files = [
        model.NewFile(str(file.filename), file.content_type or "", data=await file.read()) for file in uploads
    ]
    labels = [line.strip() for line in str(form.get("choices", "")).splitlines() if line.strip()]
    return model.NewMessage(
        session_id=session_id,
        text=str(form.get("text", "")).replace("\r\n", "\n").strip(),
        files=tuple(files),
        choices=tuple(Choice(label, "") for label in labels),
    )


def faults_by_field(refusal: Invalid | Conflict) -> Mapping[str, str]:
    """Errors by the field that they are shown at: `files[2].name` is `files`; an error without a field is `text`."""
    faults: dict[str, str] = {}
    for fault in refusal.faults if isinstance(refusal, Invalid) else ():
        name = re.split(r"[\[.]", fault.field)[0]
        field, text = (name, fault.message) if name in ANSWER_FIELDS else ("text", str(fault))
        faults[field] = f"{faults[field]}; {text}" if field in faults else text
    return faults or {"text": refusal.message}


async def inbox(request: ConsoleRequest) -> Response:
    """The list; htmx gets it alone."""
    services, caller = request.services, request.caller
    query = {name: request.query_params.get(name, "").strip() for name in FIELDS}
    state = query["state"] if query["state"] in STATES else ""
    filter_ = model.ConversationFilter(
        query["query"][:CONVERSATION_QUERY], instance_ids=tuple(request.named_instances()), **STATES[state][1]
    )
    cursor = request.query_params.get("cursor") or None
    page = await services.conversations.list(caller, filter_, LISTED, cursor)
    filters = {name: value for name, value in query.items() if value}
    values = {
        "page": page,
        "address": INBOX + (f"?{urlencode(filters)}" if filters else ""),
        "is_first": cursor is None,
        "trigger": live_trigger(CONVERSATION_KINDS),
        "is_filtered": bool(filters),
    }
    if request.is_htmx:
        return render_part(request, "inbox_list.html", values)
    instances = await services.instances.visible(caller, MOST_NAMED, 0, own=True)
    choices = _instance_choices(instances.items, query["instanceId"])
    more = {"query": query, "states": [(name, title) for name, (title, _) in STATES.items()]}
    kinds = CONVERSATION_KINDS if cursor is None else ()
    return render(request, "inbox.html", {**values, **more, "choices": choices}, live_kinds=kinds)


def _instance_choices(instances: Sequence[InstanceView], chosen: str) -> list[tuple[str, str]]:
    """Id and name of the instances to choose from; empty if there is only one."""
    choices = [(str(view.instance.id), view.instance.channel_name) for view in instances]
    if chosen and chosen not in dict(choices):
        choices.append((chosen, f"Channel {chosen}"))
    return [("", "All channels"), *choices] if len(choices) > 1 or chosen else []


ROUTES = [
    Route(INBOX + "/{instance}/{session:path}", show),
    Route(INBOX + "/{instance}/{session:path}", change, methods=["POST"]),
    Route(INBOX, inbox),
]
