"""For operators: is the process up, is it ready, what does it count. No key is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from adapters.inbound.rest import schemas
from adapters.inbound.rest.errors import JsonResponse

Check = Callable[[], Awaitable[None]]

CHECK_SECONDS = 3.0
"""How long one look at the database or the queue may take: who asks for readiness does not wait for long."""

OPTIONAL = ("queue",)
"""Nothing durable depends on the queue: without it the service is ready, and degraded."""


def router(checks: Mapping[str, Check], metrics: Callable[[], Awaitable[bytes]]) -> APIRouter:
    """`checks` raise when what they look at is not ready."""
    routes = APIRouter(tags=["operations"])

    @routes.head("/healthz", include_in_schema=False)
    @routes.get("/healthz", response_model=schemas.Alive, summary="The process is up")
    async def healthz() -> JsonResponse:
        return JsonResponse({"status": "ok"})

    @routes.head("/readyz", include_in_schema=False)
    @routes.get(
        "/readyz",
        response_model=schemas.Ready,
        summary="The database takes writes and has the newest schema; a queue that is away is told",
        responses={503: {"model": schemas.NotReady, "description": "What is not ready is named."}},
    )
    async def readyz() -> JsonResponse:
        states = await asyncio.gather(*(_state(check) for check in checks.values()))
        found = dict(zip(checks, states, strict=True))
        missing = [f"{name}: {found[name]}" for name in found if found[name] != "ok" and name not in OPTIONAL]
        if not missing:
            return JsonResponse(_ready(found))
        body = {"error": "; ".join(missing), "status": "not ready", "checks": found}
        return JsonResponse(body, status_code=503, headers={"retry-after": "2"})

    @routes.get("/metrics", summary="Prometheus metrics", response_class=Response)
    async def show_metrics() -> Response:
        return Response(await metrics(), media_type=CONTENT_TYPE_LATEST)

    return routes


def _ready(found: Mapping[str, str]) -> dict[str, object]:
    reasons = {name: state for name, state in found.items() if state != "ok"}
    return {"status": "ok", "checks": {**found, **dict.fromkeys(reasons, "degraded")}, "reasons": reasons}


async def _state(check: Check) -> str:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} seconds"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the operator asks for
        return str(error) or type(error).__name__
    return "ok"
