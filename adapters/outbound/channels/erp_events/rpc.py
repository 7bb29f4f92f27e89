"""Odoo's external API, in both forms: JSON-RPC, and `/json/2` where a server has done away with it.

Sources: https://www.odoo.com/documentation/18.0/developer/reference/external_api.html and
https://www.odoo.com/documentation/19.0/developer/reference/external_api.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.outcomes import excerpt
from adapters.outbound.channels.erp_events.failures import is_transient
from adapters.outbound.http.paths import base_address, segment
from domain.channels.messages import Config
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest

_MAX_ANSWER = 64 * 1024 * 1024
_TIMEOUT = 60.0
_DENIED = ("AccessDenied", "Invalid apikey")


class OdooError(Exception):
    """What the server said when it did not do what was asked.

    `kind` is the name of the server's exception, such as 'odoo.exceptions.AccessError'. `denied`: the
    credentials are not taken. `passing`: trying again may help. `sent`: the request may have been carried out.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "",
        denied: bool = False,
        passing: bool = False,
        sent: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.denied = denied
        self.passing = passing
        self.sent = sent
        self.retry_after = retry_after


class Session(Protocol):
    """A user of a database, signed in."""

    uid: int

    async def call(self, model: str, method: str, ids: Sequence[int] | None = None, **arguments: Any) -> Any:
        """Calls a model's method, with its arguments by name; on records when `ids` are given.

        Raises `OdooError`.
        """
        ...

    async def version(self) -> int:
        """The major version of the server; 0 when it does not say."""
        ...


async def sign_in(http: Http, config: Config) -> Session:
    """Signs in over JSON-RPC, and over `/json/2` when the server knows no JSON-RPC. Raises `OdooError`."""
    session = JsonRpc(http, config)
    try:
        await session.authenticate()
    except _NoJsonRpc:
        successor = Json2(http, config)
        await successor.authenticate()
        return successor
    return session


class _NoJsonRpc(Exception):
    """The server answers 404 to /jsonrpc."""


@dataclass(slots=True)
class JsonRpc:
    """The service `object` of `/jsonrpc`."""

    http: Http
    config: Config
    uid: int = 0

    async def authenticate(self) -> None:
        login = [self.config["database"], self.config["username"], self.config["password"], {}]
        uid = await self._ask("common", "authenticate", login)
        if not isinstance(uid, int) or isinstance(uid, bool) or uid <= 0:
            raise OdooError("Odoo does not take database, username and password.", denied=True)
        self.uid = uid

    async def call(self, model: str, method: str, ids: Sequence[int] | None = None, **arguments: Any) -> Any:
        positional: list[Any] = [] if ids is None else [list(ids)]
        if "domain" in arguments:
            positional.append(arguments.pop("domain"))
        login = [self.config["database"], self.uid, self.config["password"]]
        return await self._ask("object", "execute_kw", [*login, model, method, positional, arguments])

    async def version(self) -> int:
        return _major(at(await self._ask("common", "version", []), "server_version_info"))

    async def _ask(self, service: str, method: str, arguments: list[Any]) -> Any:
        params = {"service": service, "method": method, "args": arguments}
        body = {"jsonrpc": "2.0", "method": "call", "params": params, "id": 1}
        answer = await _send(self.http, _request(self.config, "/jsonrpc", body))
        if answer.status == 404:
            raise _NoJsonRpc
        found = _object(answer)
        if at(found, "error") is not None:
            raise _rpc_error(found)
        return _result(answer, found.get("result"))


@dataclass(slots=True)
class Json2:
    """`/json/2/<model>/<method>`, Odoo 19 and later; the password is an API key."""

    http: Http
    config: Config
    uid: int = 0

    async def authenticate(self) -> None:
        """Tries the key by asking for the user's own id."""
        own = await self.call(
            "res.users", "search", domain=[["login", "=", self.config["username"]]], limit=1
        )
        if not isinstance(own, list) or not own or not isinstance(own[0], int):
            raise OdooError("Odoo takes the API key, and knows no user of that username.", denied=True)
        self.uid = own[0]

    async def call(self, model: str, method: str, ids: Sequence[int] | None = None, **arguments: Any) -> Any:
        body = arguments if ids is None else {"ids": list(ids), **arguments}
        headers = {
            "authorization": f"bearer {self.config['password']}",
            "x-odoo-database": str(self.config["database"]),
        }
        answer = await _send(
            self.http, _request(self.config, f"/json/2/{segment(model)}/{segment(method)}", body, headers)
        )
        if answer.ok:
            return _result(answer, answer.json())
        raise _json2_error(answer)

    async def version(self) -> int:
        request = HttpRequest("GET", _address(self.config, "/web/version"), user_address=True)
        return _major(at((await _send(self.http, request)).json(), "version_info"))


def _major(info: object) -> int:
    first = info[0] if isinstance(info, list) and info else 0
    digits = str(first).rpartition("~")[2]  # 'saas~18' of Odoo Online
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def _address(config: Config, path: str) -> str:
    return base_address(str(config["erpUrl"])) + path


def _request(
    config: Config, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> HttpRequest:
    return HttpRequest(
        "POST",
        _address(config, path),
        headers=headers or {},
        json=body,
        timeout=_TIMEOUT,
        user_address=True,
        max_bytes=_MAX_ANSWER,
    )


async def _send(http: Http, request: HttpRequest) -> HttpAnswer:
    try:
        answer = await http.send(request)
    except HttpFailed as error:
        raise OdooError(
            f"The Odoo server cannot be reached: {error}", passing=True, sent=not error.before_request
        ) from error
    if answer.status == 429 or answer.status >= 500:
        words = text(answer.json(), "message") or excerpt(answer)
        raise OdooError(
            f"Odoo answered {answer.status}: {words}",
            kind=text(answer.json(), "name"),
            passing=True,
            retry_after=answer.retry_after,
        )
    return answer


def _object(answer: HttpAnswer) -> Mapping[str, Any]:
    found = answer.json()
    if not answer.ok or not isinstance(found, dict):
        words = f"Odoo answered {answer.status} without JSON-RPC: {excerpt(answer)}"
        raise OdooError(words, passing=answer.ok)
    return found


def _result(answer: HttpAnswer, result: Any) -> Any:
    """What the method gave. None of those that are called here gives nothing: a good answer without a result comes
    from what stands before Odoo, such as a maintenance page."""
    if result is None:
        raise OdooError(f"Odoo answered {answer.status} without a result: {excerpt(answer)}", passing=True)
    return result


def _rpc_error(found: Mapping[str, Any]) -> OdooError:
    """JSON-RPC reports every error with status 200."""
    kind = text(found, "error", "data", "name")
    words = text(found, "error", "data", "message") or text(found, "error", "message")
    return OdooError(
        f"Odoo: {words.strip()[:500] or kind}",
        kind=kind,
        denied=kind.endswith(_DENIED),
        passing=is_transient(kind, words, text(found, "error", "data", "debug")),
    )


def _json2_error(answer: HttpAnswer) -> OdooError:
    kind, words = text(answer.json(), "name"), text(answer.json(), "message") or excerpt(answer)
    denied = answer.status == 401 or kind.endswith(_DENIED)
    return OdooError(
        f"Odoo answered {answer.status}: {words[:500]}",
        kind=kind,
        denied=denied,
        passing=is_transient(kind, words, text(answer.json(), "debug")),
    )
