"""The cores of a gateway: which there are, and which of them takes the next call."""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
from collections.abc import Mapping, Sequence
from datetime import datetime

from adapters.outbound.core_client.endpoints import Address, Endpoint
from adapters.outbound.core_client.targets import Target
from adapters.tasks import end
from adapters.tls.credentials import ClientTls

log = logging.getLogger("switchboard.core")


class Cores:
    """Calls go to the cores that say that they can serve, in turn; to all while none says so."""

    def __init__(self, targets: Sequence[Target], tls: ClientTls | None) -> None:
        self._targets = targets
        self.tls = tls
        self._turn = itertools.count()
        self._tasks: dict[Endpoint, asyncio.Task[None]] = {}
        self._draining: dict[asyncio.Task[None], Endpoint] = {}
        self._unresolved: set[Target] = set()
        self._refreshing = asyncio.Lock()
        self.endpoints = [Endpoint(_address(target), tls) for target in targets]

    def pick(self, tried: Sequence[Endpoint] = ()) -> Endpoint:
        """One that was not tried before, as far as there is one."""
        untried = [endpoint for endpoint in self.endpoints if endpoint not in tried] or self.endpoints
        serving = [endpoint for endpoint in untried if endpoint.serving] or untried
        return serving[next(self._turn) % len(serving)]

    def start(self) -> None:
        """Begins to follow how the cores are."""
        for endpoint in self.endpoints:
            if endpoint not in self._tasks:
                self._tasks[endpoint] = asyncio.create_task(endpoint.watch())

    @property
    def fault(self) -> str:
        """Why calls find no core, as far as that is known."""
        return "; ".join(
            f"{endpoint.address}: {endpoint.fault}" for endpoint in self.endpoints if endpoint.fault
        )

    def certificates(self) -> Mapping[str, datetime]:
        """Until when the certificates of the cores are valid, by their addresses."""
        ends = {str(endpoint.address): endpoint.valid_until for endpoint in self.endpoints}
        return {address: end for address, end in ends.items() if end}

    async def refresh(self) -> None:
        """Resolves names that stand for several cores, and connects anew with new certificates."""
        async with self._refreshing:
            await self._refresh()

    async def _refresh(self) -> None:
        renewed = self.tls is not None and self.tls.files.look()
        known = {} if renewed else {endpoint.address: endpoint for endpoint in self.endpoints}
        addresses = [address for target in self._targets for address in await self._addresses(target)]
        endpoints = [
            known.get(address) or Endpoint(address, self.tls) for address in dict.fromkeys(addresses)
        ]
        retired = [endpoint for endpoint in self.endpoints if endpoint not in endpoints]
        if renewed:
            self._keep_states(endpoints)
        self.endpoints = endpoints
        self.start()
        for endpoint in retired:
            await self._retire(endpoint)

    def _keep_states(self, endpoints: Sequence[Endpoint]) -> None:
        """A core that could serve a moment ago still can."""
        serving = {endpoint.address for endpoint in self.endpoints if endpoint.serving}
        for endpoint in endpoints:
            endpoint.serving = endpoint.address in serving

    async def _addresses(self, target: Target) -> Sequence[Address]:
        """Those of a name as they are now; as they were while it cannot be resolved."""
        if not target.all_addresses:
            return [_address(target)]
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        except OSError as error:
            if target not in self._unresolved:
                log.warning("%s of CORE_TARGET cannot be resolved: %s", str(target), error.strerror)
            self._unresolved.add(target)
            name = (target.host, target.port)
            known = (endpoint.address for endpoint in self.endpoints)
            return [address for address in known if (address.name, address.port) == name]
        self._unresolved.discard(target)
        return [Address(str(entry[4][0]), target.port, target.host) for entry in sorted(found)]

    async def _retire(self, endpoint: Endpoint) -> None:
        watching = self._tasks.pop(endpoint, None)
        if watching:
            await end([watching], f"watching {endpoint.address}")
        draining = asyncio.create_task(endpoint.drain())
        self._draining[draining] = endpoint
        draining.add_done_callback(lambda task: self._draining.pop(task, None))

    async def close(self) -> None:
        draining = list(self._draining.values())
        await end([*self._tasks.values(), *self._draining], "connections to cores")
        for endpoint in (*self.endpoints, *draining):
            await endpoint.close()


def _address(target: Target) -> Address:
    return Address(target.host, target.port, target.host, target.path)
