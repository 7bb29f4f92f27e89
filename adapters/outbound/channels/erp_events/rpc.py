"""Odoo's external API, in both forms: JSON-RPC, and `/json/2` where a server no longer has it.

Sources: https://www.odoo.com/documentation/18.0/developer/reference/external_api.html and
https://www.odoo.com/documentation/19.0/developer/reference/external_api.html

Odoo gives the name of the Python exception (`error.data.name`), such as 'psycopg2.pool.PoolError': its own names are
those of `odoo.exceptions`, the database's those of `psycopg2` (https://www.psycopg.org/docs/errors.html). An error
may be wrapped in another, so its message and the exceptions in its traceback (`error.data.debug`) count too.

A user signs in once, which takes Odoo nine tenths of the time of a note.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.outcomes import excerpt
from adapters.outbound.net.urls import base_address, segment
from domain.rendering import off_loop
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest

from .config import OdooConfig

_MAX_ANSWER = 64 * 1024 * 1024
_TIMEOUT = 60.0
_DENIED = ("AccessDenied", "Invalid apikey", "SessionExpiredException")


@dataclass(eq=False)
class OdooError(Exception):
    """A request that failed. `denied`: the credentials are not taken. `transient`: trying again may help. `sent`: the
    request may have been carried out. `no_json_rpc`: the server has no JSON-RPC any more."""

    message: str
    denied: bool = False
    transient: bool = False
    sent: bool = False
    retry_after: float | None = None
    no_json_rpc: bool = False


async def sign_in(http: Http, config: OdooConfig) -> JsonRpc | Json2:
    """Signs in over JSON-RPC, or over `/json/2` when the server has no JSON-RPC. Raises `OdooError`."""
    session = JsonRpc(http, config)
    try:
        await session.authenticate()
    except OdooError as error:
        if not error.no_json_rpc:
            raise
        successor = Json2(http, config)
        await successor.authenticate()
        return successor
    return session


@dataclass(slots=True)
class JsonRpc:
    """A user of a database over the service `object` of `/jsonrpc`. All methods raise `OdooError`."""

    http: Http
    config: OdooConfig
    uid: int = 0
    major: int | None = None

    async def authenticate(self) -> None:
        login = [self.config.database, self.config.username, self.config.password, {}]
        uid = await self._request("common", "authenticate", login)
        if not isinstance(uid, int) or isinstance(uid, bool) or uid <= 0:
            raise OdooError("Odoo does not take database, username and password.", denied=True)
        self.uid = uid

    async def call(self, model: str, method: str, ids: Sequence[int] | None = None, **arguments: Any) -> Any:
        """Calls a model's method, with its arguments by name; on records when `ids` are given."""
        positional: list[Any] = [] if ids is None else [list(ids)]
        if "domain" in arguments:
            positional.append(arguments.pop("domain"))
        login = [self.config.database, self.uid, self.config.password]
        return await self._request("object", "execute_kw", [*login, model, method, positional, arguments])

    async def version(self) -> int:
        """The major version of the server, asked once; 0 when it does not tell."""
        if self.major is None:
            self.major = _major(at(await self._request("common", "version", []), "server_version_info"))
        return self.major

    async def _request(self, service: str, method: str, arguments: list[Any]) -> Any:
        params = {"service": service, "method": method, "args": arguments}
        body = {"jsonrpc": "2.0", "method": "call", "params": params, "id": 1}
        answer = await _post(self.http, self.config, "/jsonrpc", body)
        if answer.status == 404:
            raise OdooError("Odoo answered 404 to /jsonrpc.", no_json_rpc=True)
        response = await off_loop(len(answer.body), answer.json)
        if not answer.ok or not isinstance(response, dict):
            message = f"Odoo answered {answer.status} without JSON-RPC: {excerpt(answer)}"
            raise OdooError(message, transient=answer.ok, denied=answer.status == 401)
        if (error := response.get("error")) is not None:  # with status 200
            raise _error("Odoo", at(error, "data"), text(error, "message"))
        return _result(answer, response.get("result"))


@dataclass(slots=True)
class Json2:
    """As `JsonRpc`, over `/json/2/<model>/<method>` of Odoo 19 and later; the password is an API key."""

    http: Http
    config: OdooConfig
    uid: int = 0
    major: int | None = None

    async def authenticate(self) -> None:
        """Checks the key by asking for the user's own id."""
        domain = [["login", "=", self.config.username]]
        own = await self.call("res.users", "search", domain=domain, limit=1)
        if not isinstance(own, list) or not own or not isinstance(own[0], int):
            raise OdooError("Odoo takes the API key, but has no user of that username.", denied=True)
        self.uid = own[0]

    async def call(self, model: str, method: str, ids: Sequence[int] | None = None, **arguments: Any) -> Any:
        body = arguments if ids is None else {"ids": list(ids), **arguments}
        headers = {"authorization": f"bearer {self.config.password}", "x-odoo-database": self.config.database}
        path = f"/json/2/{segment(model)}/{segment(method)}"
        answer = await _post(self.http, self.config, path, body, headers)
        if answer.ok:
            return _result(answer, await off_loop(len(answer.body), answer.json))
        raise _error(
            f"Odoo answered {answer.status}", answer.json(), excerpt(answer), denied=answer.status == 401
        )

    async def version(self) -> int:
        if self.major is None:
            address = base_address(self.config.erp_url) + "/web/version"
            request = HttpRequest("GET", address, user_address=True)
            self.major = _major(at((await _send(self.http, request)).json(), "version_info"))
        return self.major


Session = JsonRpc | Json2


def _major(info: object) -> int:
    first = info[0] if isinstance(info, list) and info else 0
    digits = str(first).rpartition("~")[2]  # 'saas~18' of Odoo Online
    return int(digits) if digits.isascii() and digits.isdigit() else 0


async def _post(
    http: Http,
    config: OdooConfig,
    path: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
) -> HttpAnswer:
    request = HttpRequest(
        "POST",
        base_address(config.erp_url) + path,
        headers=headers or {},
        json=body,
        timeout=_TIMEOUT,
        user_address=True,
        max_bytes=_MAX_ANSWER,
    )
    return await _send(http, request)


async def _send(http: Http, request: HttpRequest) -> HttpAnswer:
    try:
        answer = await http.send(request)
    except HttpFailed as error:
        message = f"The Odoo server cannot be reached: {error}"
        raise OdooError(message, transient=True, sent=not error.before_request) from error
    if answer.status == 429 or answer.status >= 500:
        message = f"Odoo answered {answer.status}: {text(answer.json(), 'message') or excerpt(answer)}"
        raise OdooError(message, transient=True, retry_after=answer.retry_after)
    return answer


def _result(answer: HttpAnswer, result: Any) -> Any:
    """The result of a method. None of the methods that are called here returns null: a good answer without a result
    comes from a server in front of Odoo, such as a maintenance page."""
    if result is None:
        message = f"Odoo answered {answer.status} without a result: {excerpt(answer)}"
        raise OdooError(message, transient=True)
    return result


def _error(prefix: str, details: object, default: str, *, denied: bool = False) -> OdooError:
    """The error that Odoo describes: the name of its exception, a message, a traceback."""
    name = text(details, "name")
    message = (text(details, "message") or default).strip()
    return OdooError(
        f"{prefix}: {message[:500] or name}",
        denied=denied or name.endswith(_DENIED),
        transient=is_transient(name, message, text(details, "debug")),
    )


_PERMANENT = frozenset({"AccessDenied", "AccessError", "MissingError", "ValidationError"})
"""Odoo's own exceptions, whatever their message says."""

_TRANSIENT = re.compile(
    r"""
    # The database has no connection free, or it broke.
    PoolError | OperationalError | InterfaceError | ConnectionException | ConnectionFailure | ConnectionDoesNotExist
    | SqlclientUnableToEstablishSqlconnection | SqlserverRejectedEstablishmentOfSqlconnection | TooManyConnections
    | InsufficientResources | OutOfMemory | DiskFull | OperatorIntervention | AdminShutdown | CrashShutdown
    | CannotConnectNow | IdleSessionTimeout | IdleInTransactionSessionTimeout | ReadOnlySqlTransaction
    # Another transaction uses the same rows.
    | TransactionRollback | TransactionRollbackError | SerializationFailure | DeadlockDetected | LockNotAvailable
    | LockError | ConcurrencyError | InFailedSqlTransaction | StatementCompletionUnknown
    # The server ended what took too long.
    | QueryCanceled | QueryCanceledError | TransactionTimeout | WorkerTimeout
    # The server itself has a problem.
    | ConnectionError | ConnectionRefusedError | ConnectionResetError | ConnectionAbortedError | BrokenPipeError
    | TimeoutError | timeout | MemoryError | TooManyRequests | ServiceUnavailable | GatewayTimeout | BadGateway
    | RequestTimeout | RemoteDisconnected
    # Each request has its own credentials: the session that ended is not ours.
    | SessionExpired | SessionExpiredException
    """,
    re.VERBOSE,
)

_TRANSIENT_MESSAGE = re.compile(
    "connection pool is full|too many (connections|clients|open files)|remaining connection slots"
    "|could not (serialize access|obtain lock|connect to server)|deadlock detected|lock timeout|canceling statement"
    "|statement timeout|terminating connection|server closed the connection|(connection|cursor) already closed"
    "|eof detected|connection has been closed|connection (refused|reset|timed out)|timeout expired"
    "|no space left on device|out of (shared )?memory|temporarily unavailable|service unavailable|try again"
    "|session (has )?expired|concurrent update|current transaction is aborted"
    "|database system is (starting up|shutting down|in recovery mode)"
)


def is_transient(name: str, message: str, traceback: str = "") -> bool:
    """Return True if trying again may help. A database that does not exist is a wrong configuration."""
    message = message.lower()
    if _exception(name) in _PERMANENT or ("database" in message and "does not exist" in message):
        return False
    raised = [line.partition(":")[0] for line in traceback.splitlines() if not line.startswith(" ")]
    if any(_TRANSIENT.fullmatch(_exception(exception)) for exception in (name, *raised)):
        return True
    return _TRANSIENT_MESSAGE.search(message) is not None


def _exception(name: str) -> str:
    """The name of an exception without its module."""
    return name.rpartition(".")[2]


T = TypeVar("T")

KEPT_SECONDS = 3600.0
"""How long a session is used: the server may be upgraded."""
MOST = 1000
"""Sessions that are kept."""


class Sessions:
    """Sessions of this process by server, database, user and password."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._kept: dict[str, tuple[Session, float]] = {}
        """With the time until which each is used."""
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
        session, until = self._kept.get(_key(config), (None, 0.0))
        return session if until > time.monotonic() else None

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
                self._kept[key] = (session, time.monotonic() + KEPT_SECONDS)
                return session
        finally:
            if not lock.locked():
                self._signing_in.pop(key, None)


def _key(config: OdooConfig) -> str:
    """Without the password itself."""
    login = (config.erp_url.rstrip("/"), config.database, config.username, config.password)
    return hashlib.sha256("\0".join(login).encode("utf-8", "surrogatepass")).hexdigest()
