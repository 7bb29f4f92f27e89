"""The files of a knowledge base: uploading them, how far they are, cancelling, retrying, deleting, downloading."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from adapters.inbound.console.pages.knowledge import BASE, base_of, base_path, of_base
from adapters.inbound.console.requests import (
    SECURE_HEADERS,
    caller_of,
    is_htmx,
    redirect,
    render,
    render_part,
    services_of,
)
from adapters.inbound.console.sessions import FIELD, HEADER, check_token
from adapters.inbound.rest.multipart import MultipartReader
from adapters.inbound.rest.ranges import attachment
from adapters.inbound.rest.routing import parsed_id
from domain.access.model import Caller
from domain.knowledge.model import Base, FileStatus, FileStep
from domain.paging import DEFAULT_LIMIT, unknown_cursor
from domain.refusals import Invalid, TooLarge, Unreadable, Unsupported

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


async def files(request: Request) -> Response:
    """The page; its list alone for htmx."""
    base = await base_of(request)
    if is_htmx(request):
        return await _list(request, base)
    return await _page(request, base)


async def _list(request: Request, base: Base) -> Response:
    return render_part(request, "knowledge_files.html", await _listed(request, base))


async def _page(request: Request, base: Base, *, fault: str = "", status: int = 200) -> Response:
    rules = await services_of(request).base_files.rules(caller_of(request))
    formats = sorted(rule.format for rule in rules.formats if rule.available)
    context = {**await _listed(request, base), "rules": rules, "formats": formats, "fault": fault}
    return render(request, "knowledge_base.html", context, status=status, live_kinds=LIVE)


async def _listed(request: Request, base: Base) -> dict[str, Any]:
    cursor = request.query_params.get("cursor", "")
    after = parsed_id(cursor) if cursor else 0
    if after is None:
        raise unknown_cursor()
    name = request.query_params.get("name", "").strip()
    page = await services_of(request).base_files.states(
        caller_of(request), base.id, DEFAULT_LIMIT, after, name
    )
    busy = any(file.status is FileStatus.PROCESSING for file in page.items)
    shown = {"files": page.items, "next": page.next, "cursor": cursor, "name": name}
    return of_base(base, **shown, query=_query(name), position=_position(request), busy=busy, steps=STEPS)


def _query(name: str, cursor: str = "") -> str:
    chosen = urlencode({key: value for key, value in (("name", name), ("cursor", cursor)) if value})
    return f"?{chosen}" if chosen else ""


def _position(request: Request) -> str:
    """The part of the list that is shown, as the query of an address."""
    asked = request.query_params
    return _query(asked.get("name", "").strip(), asked.get("cursor", ""))


async def upload(request: Request) -> Response:
    """Streams files into the base. The token stands in a header, or in the first field of the form."""
    base = await base_of(request)
    reader = MultipartReader(request.headers.get("content-type", ""), request.stream())
    check_token(request, request.headers.get(HEADER) or await reader.first_field(FIELD))
    try:
        done = await services_of(request).files.upload(caller_of(request), base.id, reader.files(), True)
    except NAMED as refusal:
        if is_htmx(request):
            raise
        status = 413 if isinstance(refusal, TooLarge) else 400
        return await _page(request, base, fault=refusal.message, status=status)
    known = [file.name for file in done if file.status is FileStatus.READY]  # those that the base had already
    if is_htmx(request):
        return JSONResponse({"known": known}, headers=SECURE_HEADERS)
    return redirect(base_path(base.id), _upload_notice(len(done) - len(known), len(known)))


def _upload_notice(fresh: int, known: int) -> str:
    notices = [f"{fresh} {'file is' if fresh == 1 else 'files are'} being processed."] if fresh else []
    if known:
        notices.append(f"{known} {'was' if known == 1 else 'were'} in this base already.")
    return " ".join(notices)


def _changing(change: str, notice: str) -> Callable[[Request], Awaitable[Response]]:
    """A handler that changes a file and shows the list again."""

    async def handler(request: Request) -> Response:
        base = await base_of(request)
        made: Change = getattr(services_of(request).base_files, change)
        await made(caller_of(request), base.id, request.path_params["file"])
        if is_htmx(request):
            return await _list(request, base)
        return redirect(base_path(base.id) + _position(request), notice)

    return handler


async def download(request: Request) -> Response:
    base, caller, services = await base_of(request), caller_of(request), services_of(request)
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
