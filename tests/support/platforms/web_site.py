"""A web site for tests: pages, redirects, robots.txt and sitemaps, with ETags, as web servers answer."""

import asyncio
import gzip
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from aiohttp import web

from tests.support.platforms.standin import StandIn

ROBOTS = "/robots.txt"


@dataclass(frozen=True, slots=True)
class Answer:
    """What lies at a path."""

    body: bytes = b""
    mime_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    tagged: bool = True
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None


class WebSite(StandIn):
    """`answers` by path; `asked` counts requests, `read` the answers with content; `most_at_once`: requests."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.read: list[str] = []
        self.agents: set[str] = set()
        self.under_way = self.most_at_once = 0

    def page(self, path: str, text: str, title: str = "", **changes: str) -> None:
        """A page whose content is a paragraph."""
        head = changes.get("head", "")
        navigation = '<nav><a href="/">Home</a><a href="/contact">Contact</a></nav>'
        main = f"<main><p>{text}</p></main>"
        body = f"<html><head><title>{title}</title>{head}</head><body>{navigation}{main}</body></html>"
        self.answers[path] = Answer(body.encode())

    def sitemap(
        self, path: str, addresses: Iterable[str], *, index: bool = False, zipped: bool = False
    ) -> None:
        """Addresses that begin with / are this site's own."""
        outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
        full = (address if "://" in address else self.url + address for address in addresses)
        entries = "".join(f"<{inner}><loc>{address}</loc></{inner}>" for address in full)
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        body = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<{outer} xmlns="{space}">{entries}</{outer}>'.encode()
        )
        self.answers[path] = Answer(gzip.compress(body) if zipped else body, "application/xml")

    def redirect(self, path: str, target: str) -> None:
        self.answers[path] = Answer(status=302, headers={"Location": target})

    def fails(self, path: str, status: int, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[path] = replace(self.answers.get(path, Answer()), status=status, headers=named)

    def robots(self, *lines: str) -> None:
        self.answers[ROBOTS] = Answer("\n".join(lines).encode(), "text/plain")

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = request.path_qs
        self.asked.append(path)
        self.agents.add(request.headers.get("User-Agent", ""))
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            await asyncio.sleep(0)
            answer = self.answers.get(path, Answer(status=404))
            return await answer.handler(request) if answer.handler else self._respond(request, answer)
        finally:
            self.under_way -= 1

    def _respond(self, request: web.Request, answer: Answer) -> web.Response:
        if answer.status != 200:
            return web.Response(status=answer.status, headers=answer.headers)
        tag = f'"{hashlib.sha256(answer.body).hexdigest()[:16]}"'
        if answer.tagged and request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers={"ETag": tag})
        self.read.append(request.path_qs)
        headers = {
            "Content-Type": answer.mime_type,
            **answer.headers,
            **({"ETag": tag} if answer.tagged else {}),
        }
        return web.Response(body=answer.body, headers=headers)
