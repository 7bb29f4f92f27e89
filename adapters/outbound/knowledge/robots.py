"""robots.txt: who may read what (RFC 9309)."""

import asyncio
from dataclasses import dataclass
from functools import lru_cache

from protego import Protego

from domain.knowledge.sources.model import PageRefused, PageStatus
from ports.http import AddressRefused, Http, HttpFailed, HttpRequest, NoAddress, WebHosts

AGENT = "Switchboard"
"""Our product token: what robots.txt names us by, and the begin of User-Agent."""
MOST_BYTES = 500 * 1024
"""Of a robots.txt; what stands behind is not read (RFC 9309, 2.5)."""
GOOD_SECONDS, RETRY_SECONDS = 24 * 3600.0, 600.0
"""How long a robots.txt is taken as it was read, and after how long one that cannot be read is tried again."""
LONGEST_DELAY = 60.0
SECONDS = 20.0
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Rules:
    """What a host asks of us; `delay`: seconds between two requests."""

    robots: Protego

    def allow(self, address: str) -> bool:
        return bool(self.robots.can_fetch(address, AGENT))

    @property
    def delay(self) -> float:
        return min(LONGEST_DELAY, float(self.robots.crawl_delay(AGENT) or 0.0))


class Robots:
    """Reads robots.txt once a day, for all processes."""

    def __init__(self, http: Http, hosts: WebHosts) -> None:
        self._http = http
        self._hosts = hosts

    async def rules(self, host: str) -> Rules:
        """The rules of a host that the caller has acquired. Raises `PageRefused` where they cannot be known."""
        known = await self._hosts.robots(host)
        if known.is_due:
            await self._read(host)
            known = await self._hosts.robots(host)
        if known.text is None:
            why = f"its robots.txt cannot be read, so that what it allows is not known: {known.error}"
            raise PageRefused(PageStatus.FAILED, why, unreachable=True)
        return await asyncio.to_thread(_rules, known.text)

    async def _read(self, host: str) -> None:
        request = HttpRequest(
            "GET",
            f"{host}/robots.txt",
            headers={"user-agent": AGENT},
            timeout=SECONDS,
            user_address=True,
            follow_redirects=True,
            max_bytes=4 * MOST_BYTES,
        )
        body = bytearray()
        try:
            async for piece in self._http.stream(request):
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
                await self._hosts.keep_robots(host, None, str(failed), RETRY_SECONDS)
                return
        await self._hosts.keep_robots(host, text, None, GOOD_SECONDS)


@lru_cache(64)
def _rules(text: str) -> Rules:
    return Rules(Protego.parse(text))
