"""The files of a knowledge base: uploading them, how far they are, cancelling, retrying, deleting, downloading."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from adapters.inbound.console.pages.knowledge import BASE, base_of, base_path, of_base
from adapters.inbound.console.requests import SECURE_HEADERS, ConsoleRequest, redirect, render, render_part
from adapters.inbound.console.sessions import FIELD, HEADER, check_token
from adapters.inbound.rest.multipart import MultipartReader
from adapters.inbound.rest.ranges import attachment
from domain.access.model import Caller
from domain.knowledge.model import Base, FileStatus, FileStep
from domain.refusals import Invalid, Refusal, TooLarge, Unreadable, Unsupported

FILE = BASE + "/files/{file}"
NAMED = (Invalid, TooLarge, Unreadable, Unsupported)
"""Refusals that say what is wrong with a file."""
STEPS = {
    FileStep.WAITING: "Waiting",
    FileStep.READING: "Reading",
    FileStep.PREPARING_MODEL: "Read; the search model is being prepared, once, for a minute or more",
    FileStep.EMBEDDING: "Making it searchable",
}
LIVE = ("upload.ready", "upload.failed")

Change = Callable[[Caller, int, str], Awaitable[None]]


async def files(request: ConsoleRequest) -> Response:
    """The page; its list alone for htmx."""
    base = await base_of(request)
    return await (_list(request, base) if request.is_htmx else _page(request, base))


async def _list(request: ConsoleRequest, base: Base) -> Response:
    return render_part(request, "knowledge_files.html", await _listed(request, base))


async def _page(request: ConsoleRequest, base: Base, refusal: Refusal | None = None) -> Response:
    """`refusal`: of an upload."""
    rules = await request.services.base_files.rules(request.caller)
    formats = sorted(rule.format for rule in rules.formats if rule.available)
    fault = refusal.message if refusal else ""
    context = {**await _listed(request, base), "rules": rules, "formats": formats, "fault": fault}
    status = 413 if isinstance(refusal, TooLarge) else 400 if refusal else 200
    return render(request, "knowledge_base.html", context, status=status, live_kinds=LIVE)


async def _listed(request: ConsoleRequest, base: Base) -> dict[str, Any]:
    asked, name = request.cursor_page, request.query_params.get("name", "").strip()
    page = await request.services.base_files.states(request.caller, base.id, asked.limit, asked.number, name)
    busy = any(file.status is FileStatus.PROCESSING for file in page.items)
    shown = {"files": page.items, "next": page.next, "cursor": asked.cursor, "name": name}
    return of_base(base, **shown, query=_query(name), position=_position(request), busy=busy, steps=STEPS)


def _query(name: str, cursor: str = "") -> str:
    chosen = urlencode({key: value for key, value in (("name", name), ("cursor", cursor)) if value})
    return f"?{chosen}" if chosen else ""


def _position(request: ConsoleRequest) -> str:
    """The part of the list that is shown, as the query of an address."""
    asked = request.query_params
    return _query(asked.get("name", "").strip(), asked.get("cursor", ""))


async def upload(request: ConsoleRequest) -> Response:
    """Streams files into the base. The token stands in a header, or in the first field of the form."""
    base = await base_of(request)
    reader = MultipartReader(request.headers.get("content-type", ""), request.stream())
    check_token(request, request.headers.get(HEADER) or await reader.first_field(FIELD))
    try:
        done = await request.services.files.upload(request.caller, base.id, reader.files(), True)
    except NAMED as refusal:
        if request.is_htmx:
            raise
        return await _page(request, base, refusal)
    known = [file.name for file in done if file.status is FileStatus.READY]  # those that the base had already
    if request.is_htmx:
        return JSONResponse({"known": known}, headers=SECURE_HEADERS)
    fresh, notice = len(done) - len(known), ""
    if fresh:
        notice = f"{fresh} {'file is' if fresh == 1 else 'files are'} being processed. "
    if known:
        notice += f"{len(known)} {'was' if len(known) == 1 else 'were'} in this base already."
    return redirect(base_path(base.id), notice.strip())


def _changing(change: str, notice: str) -> Callable[[ConsoleRequest], Awaitable[Response]]:
    """A handler that changes a file and shows the list again."""

    async def handler(request: ConsoleRequest) -> Response:
        base = await base_of(request)
        made: Change = getattr(request.services.base_files, change)
        await made(request.caller, base.id, request.path_params["file"])
        if request.is_htmx:
            return await _list(request, base)
        return redirect(base_path(base.id) + _position(request), notice)

    return handler


async def download(request: ConsoleRequest) -> Response:
    base, caller, services = await base_of(request), request.caller, request.services
    state = await services.base_files.state(caller, base.id, request.path_params["file"])
    file = await services.files.download(caller, state.hash)
    headers = {
        **SECURE_HEADERS,
        "content-disposition": attachment(state.name),
        "content-length": str(file.size),
    }
    return StreamingResponse(file.content, media_type="application/octet-stream", headers=headers)


ROUTES = [
    Route(BASE, files),
    Route(FILE + "/cancel", _changing("remove", "The upload was cancelled."), methods=["POST"]),
    Route(FILE + "/delete", _changing("remove", "The file was deleted."), methods=["POST"]),
    Route(FILE + "/retry", _changing("retry", "The file is processed again."), methods=["POST"]),
    Route(FILE + "/download", download),
]
UPLOADS = [Route(BASE + "/upload", upload, methods=["POST"])]
