"""Sessions with Odoo servers: a user signs in once, which takes Odoo nine tenths of the time of a note."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from adapters.outbound.channels.erp_events.config import OdooConfig
from adapters.outbound.channels.erp_events.rpc import OdooError, Session, sign_in
from ports.http import Http

T = TypeVar("T")

KEPT_SECONDS = 3600.0
"""How long a session is used: the server may be upgraded."""
MOST = 1000
"""Sessions that are kept."""


@dataclass(frozen=True, slots=True)
class _Kept:
    session: Session
    until: float


class Sessions:
    """Sessions of this process by server, database, user and password."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._kept: dict[str, _Kept] = {}
        self._signing_in: dict[str, asyncio.Lock] = {}

    async def use(self, config: OdooConfig, work: Callable[[Session], Awaitable[T]]) -> T:
        """The result of `work` with a session. It is repeated with a new one where Odoo does not take the kept one:
        nothing was carried out then. Raises `OdooError`."""
        kept = self._of(config)
        if kept is not None:
            try:
                return await work(kept)
            except OdooError as error:
                if not error.denied and not error.no_json_rpc:
                    raise
            self._kept.pop(_key(config), None)
        return await work(await self.begin(config))

    def _of(self, config: OdooConfig) -> Session | None:
        kept = self._kept.get(_key(config))
        return kept.session if kept is not None and kept.until > time.monotonic() else None

    async def begin(self, config: OdooConfig) -> Session:
        """The kept session, or a new one, which all share who wait for it. Raises `OdooError`."""
        key = _key(config)
        lock = self._signing_in.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                if (kept := self._of(config)) is not None:
                    return kept
                session = await sign_in(self._http, config)
                while len(self._kept) >= MOST:
                    del self._kept[next(iter(self._kept))]
                self._kept[key] = _Kept(session, time.monotonic() + KEPT_SECONDS)
                return session
        finally:
            if not lock.locked():
                self._signing_in.pop(key, None)


def _key(config: OdooConfig) -> str:
    """Without the password itself."""
    login = (config.erp_url.rstrip("/"), config.database, config.username, config.password)
    return hashlib.sha256("\0".join(login).encode("utf-8", "surrogatepass")).hexdigest()
