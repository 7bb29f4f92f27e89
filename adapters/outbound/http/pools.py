"""The client library: connections that the address policy allows, and its errors in our words."""

import socket

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from adapters.outbound.http.addresses import PER_HOST, Forbidden, NameNotFound, PolicedSockets
from adapters.outbound.http.failures import failure
from adapters.outbound.http.policy import AddressPolicy
from adapters.outbound.http.redaction import safe_url
from ports.http import HttpFailed, HttpRequest, NoAddress


class PolicedResolver(AbstractResolver):
    """Resolves names to those of their addresses that the policy allows."""

    def __init__(self, policy: AddressPolicy, resolver: AbstractResolver | None = None) -> None:
        self._policy = policy
        self._resolver = resolver or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        results = await self._resolver.resolve(host, port, family)
        allowed = [result for result in results if self._policy.allows(result["host"])]
        if not allowed:
            raise Forbidden(f"{host} has no allowed address")
        return allowed

    async def close(self) -> None:
        await self._resolver.close()


def policed_connector(policy: AddressPolicy, limit: int = 100) -> aiohttp.TCPConnector:
    """A connection pool whose every connection passed the policy."""
    return aiohttp.TCPConnector(
        limit=limit,
        limit_per_host=PER_HOST,
        ttl_dns_cache=30,
        resolver=PolicedResolver(policy),
        socket_factory=PolicedSockets(policy),
    )


def failure_of(error: Exception, request: HttpRequest, sent: bool, source: Exception | None) -> HttpFailed:
    """The failure behind an error of the library, as `failure` tells those of the system."""
    if isinstance(error, aiohttp.InvalidURL):
        return NoAddress(f"{safe_url(request.url)} is not an address that can be called")
    return failure(_plain(error), request, sent, source)


def _plain(error: Exception) -> Exception:
    """The error as the system tells it, so that nobody else needs the library to tell errors apart."""
    if isinstance(error, aiohttp.ClientConnectorDNSError) and not isinstance(error.os_error, Forbidden):
        return NameNotFound(str(error.os_error))
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError):
        return ConnectionError(str(error))
    return error
