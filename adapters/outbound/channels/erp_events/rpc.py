"""Odoo's external API, in both forms: JSON-RPC, and `/json/2` where a server no longer has it.

Sources: https://www.odoo.com/documentation/18.0/developer/reference/external_api.html and
https://www.odoo.com/documentation/19.0/developer/reference/external_api.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.outcomes import excerpt
from adapters.outbound.channels.erp_events.config import OdooConfig
from adapters.outbound.channels.erp_events.failures import is_transient
from adapters.outbound.http.paths import base_address, segment
from domain.long_texts.service import off_loop
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest

_MAX_ANSWER = 64 * 1024 * 1024
_TIMEOUT = 60.0
_DENIED = ("AccessDenied", "Invalid apikey", "SessionExpiredException")


class OdooError(Exception):
    """A request that failed. `denied`: the credentials are not taken. `transient`: trying again may help. `sent`: the
    request may have been carried out. `no_json_rpc`: the server has no JSON-RPC any more."""

    def __init__(
        self,
        message: str,
        *,
        denied: bool = False,
        transient: bool = False,
        sent: bool = False,
        retry_after: float | None = None,
        no_json_rpc: bool = False,
    ) -> None:
        super().__init__(message)
        self.denied = denied
        self.transient = transient
        self.sent = sent
        self.retry_after = retry_after
        self.no_json_rpc = no_json_rpc


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
        headers = {
            "authorization": f"bearer {self.config.password}",
            "x-odoo-database": self.config.database,
        }
        path = f"/json/2/{segment(model)}/{segment(method)}"
        answer = await _post(self.http, self.config, path, body, headers)
        if answer.ok:
            return _result(answer, await off_loop(len(answer.body), answer.json))
        raise _error(
            f"Odoo answered {answer.status}", answer.json(), excerpt(answer), denied=answer.status == 401
        )

    async def version(self) -> int:
        if self.major is None:
            request = HttpRequest("GET", _address(self.config, "/web/version"), user_address=True)
            self.major = _major(at((await _send(self.http, request)).json(), "version_info"))
        return self.major


Session = JsonRpc | Json2


def _major(info: object) -> int:
    first = info[0] if isinstance(info, list) and info else 0
    digits = str(first).rpartition("~")[2]  # 'saas~18' of Odoo Online
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def _address(config: OdooConfig, path: str) -> str:
    return base_address(config.erp_url) + path


async def _post(
    http: Http,
    config: OdooConfig,
    path: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
) -> HttpAnswer:
    request = HttpRequest(
        "POST",
        _address(config, path),
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
