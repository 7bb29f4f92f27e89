"""The sources of a knowledge base: web pages and folders that are read into it; adding, reading now, removing."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.pages.knowledge import BASE, base_of, base_path, of_base
from adapters.inbound.console.requests import (
    caller_of,
    faults_of,
    form_of,
    is_htmx,
    redirect,
    render,
    render_part,
    services_of,
)
from adapters.inbound.rest.routing import parsed_id, path_id
from domain.knowledge.model import Base
from domain.knowledge.sources.model import PageStatus, SourceState
from domain.knowledge.sources.service import NO_SOURCE
from domain.paging import DEFAULT_LIMIT, unknown_cursor
from domain.refusals import Invalid

SOURCES = BASE + "/sources"
SOURCE = SOURCES + "/{source}"
STATES = {
    PageStatus.WAITING: ("Waiting", ""),
    PageStatus.PROCESSING: ("Being processed", ""),
    PageStatus.READ: ("Read", "good"),
    PageStatus.FAILED: ("Failed", "bad"),
    PageStatus.SKIPPED: ("Passed over", ""),
    PageStatus.GONE: ("Gone", ""),
}


async def sources(request: Request) -> Response:
    """The page; its list alone for htmx."""
    base = await base_of(request)
    if is_htmx(request):
        return render_part(request, "knowledge_sources_list.html", await _listed(request, base))
    return await _page(request, base)


async def _page(request: Request, base: Base, status: int = 200, **given: Any) -> Response:
    form = {"url": "", "every": "", "faults": {}, **given}
    context = {**await _listed(request, base), **form}
    return render(request, "knowledge_sources.html", context, status=status)


async def _listed(request: Request, base: Base) -> dict[str, Any]:
    cursor = request.query_params.get("cursor", "")
    listed = await services_of(request).sources.list(
        caller_of(request), base.id, DEFAULT_LIMIT, _after(cursor)
    )
    busy = any(source.state is not SourceState.IDLE for source in listed.items)
    return of_base(base, sources=listed.items, next=listed.next, cursor=cursor, busy=busy)


def _after(cursor: str) -> int:
    after = parsed_id(cursor) if cursor else 0
    if after is None:
        raise unknown_cursor()
    return after


async def pages(request: Request) -> Response:
    """What became of the pages of a source."""
    base, cursor = await base_of(request), request.query_params.get("cursor", "")
    source, after = _source_of(request), _after(cursor)
    listed = await services_of(request).sources.pages(
        caller_of(request), base.id, source, "", DEFAULT_LIMIT, after
    )
    path = f"{base_path(base.id)}/sources"
    context = of_base(
        base, pages=listed.items, next=listed.next, states=STATES, source_path=f"{path}/{source}", back=path
    )
    return render(request, "knowledge_source.html", context)


async def add(request: Request) -> Response:
    base, form = await base_of(request), await form_of(request)
    url, every = str(form.get("url", "")), str(form.get("every", "")).strip()
    try:
        minutes = float(every) if every else None
    except ValueError:
        minutes = float("nan")
    try:
        await services_of(request).sources.add_pages(caller_of(request), base.id, url, minutes)
    except Invalid as refusal:
        return await _page(request, base, 400, url=url, every=every, faults=faults_of(refusal))
    return redirect(f"{base_path(base.id)}/sources", "It is read in the background.")


async def read_now(request: Request) -> Response:
    base = await base_of(request)
    await services_of(request).sources.read_now(caller_of(request), base.id, _source_of(request))
    return redirect(f"{base_path(base.id)}/sources", "It is read in the background.")


async def remove(request: Request) -> Response:
    base, form = await base_of(request), await form_of(request)
    keep = str(form.get("keep", "")) == "true"
    await services_of(request).sources.remove(
        caller_of(request), base.id, _source_of(request), keep_files=keep
    )
    done = "The source was removed; its files stay." if keep else "The source was removed; its files go too."
    return redirect(f"{base_path(base.id)}/sources", done)


def _source_of(request: Request) -> int:
    return path_id(request.path_params["source"], NO_SOURCE)


ROUTES = [
    Route(SOURCES, sources),
    Route(SOURCES, add, methods=["POST"]),
    Route(SOURCE, pages),
    Route(SOURCE + "/read", read_now, methods=["POST"]),
    Route(SOURCE + "/remove", remove, methods=["POST"]),
]
