"""Fetches pages of the web politely: one request at a time to each host, within robots.txt (RFC 9309) and the address
policy."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from protego import Protego

from adapters.outbound.net.urls import safe_url
from domain.knowledge.sources.model import PageLater, PageRefused, PageStatus, Validators
from ports.http import AddressRefused, Http, HttpAnswer, HttpFailed, HttpRequest, NoAddress, WebHosts

AGENT = "Switchboard"
"""Our product token: what robots.txt names us by, and the begin of User-Agent."""
MOST_BYTES = 500 * 1024
"""Of a robots.txt; what stands behind is not read (RFC 9309, 2.5)."""
GOOD_SECONDS, RETRY_SECONDS = 24 * 3600.0, 600.0
"""How long a robots.txt is taken as it was read, and after how long one that cannot be read is tried again."""
LONGEST_DELAY = 60.0
ROBOTS_SECONDS = 20.0
_TOO_MANY = 429


@lru_cache(64)
def _parsed_robots(text: str) -> Protego:
    return Protego.parse(text)


SECONDS = 30.0
"""For one answer, its body included."""
HELD_SECONDS = 2 * SECONDS
MOST_HOPS = 5
MOST_WAITS = 3
REST_AFTER_BUSY, LONGEST_REST = 60.0, 3600.0
"""How long a host rests that is too busy and does not say for how long, and how long at most."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNCHANGED, _UNAVAILABLE, _BUSY, _GONE = 304, 503, frozenset({429, 503}), frozenset({404, 410})
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server answered; the body was written to a file. `address` is where it was found in the end."""

    address: str
    headers: Mapping[str, str]

    @property
    def mime_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        message = Message()
        message["content-type"] = self.headers.get("content-type", "")
        return message.get_content_charset() or ""

    @property
    def file_name(self) -> str:
        message = Message()
        message["content-disposition"] = self.headers.get("content-disposition", "")
        return message.get_filename() or ""

    @property
    def last_of_path(self) -> str:
        return unquote(urlsplit(self.address).path.rstrip("/").rpartition("/")[2])

    @property
    def validators(self) -> Validators:
        return Validators(self.headers.get("etag"), self.headers.get("last-modified"))


@dataclass(eq=False)
class PageFetcher:
    """`pause`: seconds between two requests to a host."""

    http: Http
    hosts: WebHosts
    pause: float
    max_bytes: int

    async def fetch(
        self, address: str, known: Validators, path: Path, only_host: str = "", *, rests: bool = True
    ) -> Fetched | None:
        """Writes what lies at an address to `path`; None: it is as it was `known`. With `only_host` redirects to
        other hosts are refused. `rests`: an answer that the service is unavailable is taken as the host's, which then
        rests, and not as that of the page. Raises `PageRefused`, `PageLater`."""
        url = address
        for hop in range(MOST_HOPS + 1):
            if only_host and host_name(url) != only_host:
                raise PageRefused(PageStatus.SKIPPED, f"it leads to another host, {host_name(url)}")
            answer = await self._ask(url, known, path, patient=hop > 0, rests=rests)
            if answer.status == _UNCHANGED:
                return None
            target = answer.headers.get("location") if answer.status in _REDIRECTS else None
            if target is None:
                if not answer.ok:
                    status = PageStatus.GONE if answer.status in _GONE else PageStatus.FAILED
                    said = f"{safe_url(url)} answers with status {answer.status}"
                    raise PageRefused(status, said, unreachable=answer.status >= 500)
                return Fetched(url, answer.headers)
            url = _next_hop(url, target)
        raise PageRefused(PageStatus.FAILED, f"it redirects more than {MOST_HOPS} times")

    async def _ask(
        self, url: str, known: Validators, path: Path, *, patient: bool, rests: bool
    ) -> HttpAnswer:
        """Sends one request once the host is free. `patient`: waits for a host that rests, as a page that redirects
        would begin anew each time."""
        host = origin_of(url)
        wait = await self.hosts.acquire(host, HELD_SECONDS)
        for _ in range(MOST_WAITS if patient else 0):
            if 0 < wait <= SECONDS:
                await asyncio.sleep(wait)
                wait = await self.hosts.acquire(host, HELD_SECONDS)
        if wait:
            raise PageLater(wait)
        rest = self.pause
        try:
            rest = max(rest, await self._allowed_after(host, url))
            answer = await self._send(url, known, path)
            if answer.status in _BUSY:
                if rests or answer.status != _UNAVAILABLE:
                    asked = REST_AFTER_BUSY if answer.retry_after is None else answer.retry_after
                    rest = min(LONGEST_REST, max(rest, asked))
                raise PageLater(rest, f"{host} is too busy: it answers with status {answer.status}")
            return answer
        finally:
            await self.hosts.release(host, rest)

    async def _allowed_after(self, host: str, url: str) -> float:
        """The seconds between two requests that robots.txt of an acquired host asks for; it is read once a day for
        all processes. Raises `PageRefused` if it forbids the address, or cannot be known."""
        known = await self.hosts.robots(host)
        if known.is_due:
            await self._read_robots(host)
            known = await self.hosts.robots(host)
        if known.text is None:
            why = f"its robots.txt cannot be read, so that what it allows is not known: {known.error}"
            raise PageRefused(PageStatus.FAILED, why, unreachable=True)
        robots = await asyncio.to_thread(_parsed_robots, known.text)
        if not robots.can_fetch(url, AGENT):
            raise PageRefused(PageStatus.SKIPPED, f"robots.txt of {host} forbids it")
        return min(LONGEST_DELAY, float(robots.crawl_delay(AGENT) or 0.0))

    async def _read_robots(self, host: str) -> None:
        request = HttpRequest(
            "GET",
            f"{host}/robots.txt",
            headers={"user-agent": AGENT},
            timeout=ROBOTS_SECONDS,
            user_address=True,
            follow_redirects=True,
            max_bytes=4 * MOST_BYTES,
        )
        body = bytearray()
        try:
            async for piece in self.http.stream(request):
                body += piece
                if len(body) >= MOST_BYTES:
                    break
            text = bytes(body[:MOST_BYTES]).decode("utf-8", "replace")
        except (AddressRefused, NoAddress) as refused:
            raise PageRefused(PageStatus.FAILED, str(refused)) from refused
        except HttpFailed as failed:
            status = failed.answer.status if failed.answer else 0
            if 400 <= status < 500 and status != _TOO_MANY:
                text = ""  # there is none: everything may be read (RFC 9309, 2.3.1.3)
            else:
                await self.hosts.keep_robots(host, None, str(failed), RETRY_SECONDS)
                return
        await self.hosts.keep_robots(host, text, None, GOOD_SECONDS)

    async def _send(self, url: str, known: Validators, path: Path) -> HttpAnswer:
        heads: list[HttpAnswer] = []
        conditions = {"if-none-match": known.etag, "if-modified-since": known.last_modified}
        headers = {name: value for name, value in conditions.items() if value}
        request = HttpRequest(
            "GET",
            url,
            headers={"user-agent": AGENT, "accept": _ACCEPT, **headers},
            timeout=SECONDS,
            user_address=True,
            max_bytes=2 * self.max_bytes,
            on_head=heads.append,
        )
        try:
            total = 0
            with path.open("wb") as file:
                async for piece in self.http.stream(request):
                    total += len(piece)
                    if total > self.max_bytes:
                        most = self.max_bytes // 2**20
                        raise PageRefused(PageStatus.FAILED, f"it is larger than {most} MB")
                    file.write(piece)
        except HttpFailed as failed:
            if failed.answer is None:
                of_policy = isinstance(failed, AddressRefused | NoAddress)
                raise PageRefused(PageStatus.FAILED, str(failed), unreachable=not of_policy) from failed
            return failed.answer
        return heads[0]


def _next_hop(url: str, target: str) -> str:
    try:
        hop = urldefrag(urljoin(url, target)).url
        usable = urlsplit(hop).scheme in _PORTS and bool(urlsplit(hop).hostname)
    except ValueError:
        usable = False
    if not usable:
        raise PageRefused(PageStatus.FAILED, "it redirects to what is no address of the web")
    return hop


def origin_of(url: str) -> str:
    """Scheme, host and port of an address."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = parts.port
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != _PORTS.get(parts.scheme) else "")


def host_name(url: str) -> str:
    """Host and port of an address, without the usual ports: http and https of a host are one. Empty for none."""
    try:
        return origin_of(url).partition("://")[2]
    except ValueError:
        return ""
