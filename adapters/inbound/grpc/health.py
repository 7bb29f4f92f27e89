"""Standard health checking (grpc.health.v1) that tells how the core stands with what it needs.

Beside the services and the empty name, which stands for the whole server, it answers for the names of what is
checked, such as `database`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckResponse

Check = Callable[[], Awaitable[object]]

LOOK_EVERY = 2.0
LOOK_SECONDS = 3.0


class Health:
    """`checks` raise when what they look at is away; without those in `needed` no service can serve."""

    def __init__(self, checks: Mapping[str, Check], needed: Sequence[str]) -> None:
        self._checks = checks
        self._needed = needed
        self._services: list[str] = [""]
        self.servicer = health.aio.HealthServicer()  # type: ignore[attr-defined]  # which its types lack

    async def add_to(self, server: grpc.aio.Server, services: Sequence[str]) -> None:
        """Answers for these services from now on."""
        self._services += services
        health_pb2_grpc.add_HealthServicer_to_server(self.servicer, server)
        await self.look()

    async def keep(self) -> None:
        """Looks again and again, until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            await self.look()

    async def look(self) -> None:
        answers = await asyncio.gather(*(_answers(check) for check in self._checks.values()))
        states = dict(zip(self._checks, answers, strict=True))
        serving = all(states[name] for name in self._needed)
        for name, state in [*states.items(), *((name, serving) for name in self._services)]:
            status = HealthCheckResponse.SERVING if state else HealthCheckResponse.NOT_SERVING
            await self.servicer.set(name, status)


async def _answers(check: Check) -> bool:
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            await check()
    except Exception:  # noqa: BLE001 - whatever it is, it does not answer
        return False
    return True
