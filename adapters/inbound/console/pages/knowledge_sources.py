"""The sources of a knowledge base: web pages and folders that are read into it; adding, reading now, removing."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.pages.knowledge import BASE, base_of, base_path, of_base
from adapters.inbound.console.requests import ConsoleRequest, faults_of, redirect, render, render_part
from adapters.inbound.rest.routing import path_id
from domain.knowledge.model import Base
from domain.knowledge.sources.model import PageStatus, SourceState
from domain.knowledge.sources.service import NO_SOURCE
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


async def sources(request: ConsoleRequest) -> Response:
    """The page; its list alone for htmx."""
    base = await base_of(request)
    if request.is_htmx:
        return render_part(request, "knowledge_sources_list.html", await _listed(request, base))
    return await _page(request, base)


async def _page(request: ConsoleRequest, base: Base, **given: Any) -> Response:
    context = {**await _listed(request, base), "url": "", "every": "", "faults": {}, **given}
    return render(request, "knowledge_sources.html", context, status=400 if context["faults"] else 200)


async def _listed(request: ConsoleRequest, base: Base) -> dict[str, Any]:
    page = request.cursor_page
    listed = await request.services.sources.list(request.caller, base.id, page.limit, page.number)
    busy = any(source.state is not SourceState.IDLE for source in listed.items)
    return of_base(base, sources=listed.items, next=listed.next, cursor=page.cursor, busy=busy)


async def pages(request: ConsoleRequest) -> Response:
    """What became of the pages of a source."""
    base, page, source = await base_of(request), request.cursor_page, _source_of(request)
    listed = await request.services.sources.pages(
        request.caller, base.id, source, "", page.limit, page.number
    )
    path = f"{base_path(base.id)}/sources"
    context = of_base(
        base, pages=listed.items, next=listed.next, states=STATES, source_path=f"{path}/{source}", back=path
    )
    return render(request, "knowledge_source.html", context)


async def add(request: ConsoleRequest) -> Response:
    base, form = await base_of(request), await request.posted()
    url, every = str(form.get("url", "")), str(form.get("every", "")).strip()
    try:
        minutes = float(every) if every else None
    except ValueError:
        minutes = float("nan")
    try:
        await request.services.sources.add_pages(request.caller, base.id, url, minutes)
    except Invalid as refusal:
        return await _page(request, base, url=url, every=every, faults=faults_of(refusal))
    return redirect(f"{base_path(base.id)}/sources", "It is read in the background.")


async def read_now(request: ConsoleRequest) -> Response:
    base = await base_of(request)
    await request.services.sources.read_now(request.caller, base.id, _source_of(request))
    return redirect(f"{base_path(base.id)}/sources", "It is read in the background.")


async def remove(request: ConsoleRequest) -> Response:
    base, form = await base_of(request), await request.posted()
    keep = str(form.get("keep", "")) == "true"
    await request.services.sources.remove(request.caller, base.id, _source_of(request), keep_files=keep)
    done = "The source was removed; its files stay." if keep else "The source was removed; its files go too."
    return redirect(f"{base_path(base.id)}/sources", done)


def _source_of(request: ConsoleRequest) -> int:
    return path_id(request.path_params["source"], NO_SOURCE)


ROUTES = [
    Route(SOURCES, sources),
    Route(SOURCES, add, methods=["POST"]),
    Route(SOURCE, pages),
    Route(SOURCE + "/read", read_now, methods=["POST"]),
    Route(SOURCE + "/remove", remove, methods=["POST"]),
]
