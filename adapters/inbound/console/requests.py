"""What handlers of pages share: the caller, the use cases, forms, templates, redirects."""

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from adapters.inbound.console import filters, sessions
from adapters.inbound.console.channel_setup import in_words
from adapters.inbound.console.navigation import SECTIONS, conversation_path
from adapters.inbound.console.static import static_address
from adapters.inbound.rest import routing
from domain.access.model import Caller
from domain.paging import DEFAULT_LIMIT
from domain.refusals import Fault, Invalid
from domain.use_cases import UseCases

NOTICE = "switchboard_notice"
NOTICE_SECONDS = 30
FORM_FIELDS, FORM_FILES = 500, 50
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
SECURE_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

AGAIN = '<!DOCTYPE html><meta http-equiv="refresh" content="0"><title>Switchboard</title>'
"""Loads the same page anew: browsers keep the session's cookie back from whoever comes by a link of another site, and
send it when the page itself asks."""


def is_htmx(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


class ConsoleRequest(Request):
    """A request to a page of the console, with what its handler needs."""

    @property
    def gateway(self) -> routing.Gateway:
        gateway: routing.Gateway = self.app.state.gateway
        return gateway

    @property
    def services(self) -> UseCases:
        return self.gateway.use_cases

    @property
    def caller(self) -> Caller:
        """Who has signed in."""
        caller: Caller = self.state.caller
        return caller

    @property
    def is_htmx(self) -> bool:
        return is_htmx(self)

    @property
    def instance_id(self) -> int:
        """The instance that the path names. Raises `NotFound` for what cannot be an id."""
        return routing.path_id(self.path_params["instance"], routing.NO_INSTANCE)

    @property
    def cursor_page(self) -> routing.RequestedCursor:
        """Where a list goes on, by the query."""
        return routing.RequestedCursor(DEFAULT_LIMIT, self.query_params.get("cursor", ""))

    def named_instances(self) -> list[int]:
        """The instances of the query, separated by commas. Raises `Invalid`."""
        ids = []
        for text in routing.comma_separated(self.query_params.getlist("instanceId")):
            instance_id = routing.parsed_id(text)
            if instance_id is None:
                raise Invalid.of([Fault("instanceId", f"'{text[:30]}' is not the id of an instance")])
            ids.append(instance_id)
        return ids

    async def posted(self) -> FormData:
        """The fields of a posted form; its CSRF token was checked before the handler. It is read once."""
        return await self.form(max_files=FORM_FILES, max_fields=FORM_FIELDS)

    async def check_form(self) -> None:
        """Raises `Forbidden` for a request that changes something and comes from another site, or without our
        token."""
        if self.method in sessions.SAFE:
            return
        sessions.check_origin(self)
        token = self.headers.get(sessions.HEADER, "")
        if not token and self.headers.get("content-type", "").partition(";")[0] in FORM_TYPES:
            token = str((await self.posted()).get(sessions.FIELD, ""))
        sessions.check_token(self, token)


def faults_of(refusal: Invalid) -> dict[str, str]:
    """Errors by the name of the field; an error without a field has an empty name."""
    faults = {fault.field: fault.message for fault in refusal.faults}
    return faults or {"": refusal.message}


def render(
    request: Request,
    template: str,
    context: Mapping[str, Any] | None = None,
    *,
    status: int = 200,
    live_kinds: tuple[str, ...] = (),
) -> Response:
    """A whole page. `live_kinds` are the kinds of events after which parts of it fetch themselves anew."""
    notice = sessions.cookie_of(request, NOTICE)
    values = {
        "live_kinds": live_kinds,
        "live_after": getattr(request.state, "live_after", None),
        "notice": unquote(notice),
        **(context or {}),
    }
    response = render_part(request, template, values, status=status)
    if notice:
        sessions.set_cookie(request, response, NOTICE, "", 0)
    return response


def render_part(
    request: Request,
    template_name: str,
    values: Mapping[str, Any] | None = None,
    *,
    block: str | None = None,
    status: int = 200,
) -> Response:
    """A part of a page for htmx: a whole template, or one `block` of it."""
    templates = _templates()
    template = templates.get_template(template_name)
    token = sessions.csrf_token(request)
    context = {
        "parts": templates.get_template("parts.html").module,
        "forms": templates.get_template("forms.html").make_module({"csrf_token": token}),
        "request": request,
        "caller": getattr(request.state, "caller", None),
        "csrf_token": token,
        "signs_out": bool(sessions.session_of(request)),
        "sections": SECTIONS,
        "here": request.url.path,
        **(values or {}),
    }
    if block is None:
        response = _Page(lambda: template.render(context), status)
    else:
        response = _Page(lambda: "".join(template.blocks[block](template.new_context(context))), status)
    if not sessions.session_of(request) and not sessions.cookie_of(request, sessions.VISIT):
        sessions.set_cookie(request, response, sessions.VISIT, sessions.visit_of(request), None)
    return response


class Redirection(RedirectResponse):
    """To a page of the console, by GET; the notice stands on the page that is shown next."""

    def __init__(self, path: str, notice: str) -> None:
        super().__init__(path, 303)
        self._notice = notice

    def keep_notice(self, request: Request) -> None:
        """Puts the notice into a cookie of the browser that sent the request."""
        if self._notice:
            sessions.set_cookie(request, self, NOTICE, quote(self._notice[:500], safe=" "), NOTICE_SECONDS)


def redirect(path: str, notice: str = "") -> Response:
    return Redirection(path, notice)


class _Page(HTMLResponse):
    """A page that is written in a thread: it may hold long texts."""

    def __init__(self, write: Callable[[], str], status: int) -> None:
        super().__init__("", status, SECURE_HEADERS)
        self._write = write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body = self.render(await asyncio.to_thread(self._write))
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


@lru_cache(1)
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("adapters.inbound.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(filters.ALL)
    templates.globals |= {
        "static": static_address,
        "in_words": in_words,
        "conversation_path": conversation_path,
    }
    return templates
