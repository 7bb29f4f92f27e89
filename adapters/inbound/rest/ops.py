"""For operators: is the process up, is it ready, what does it count. No key is needed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from adapters.inbound.rest import schemas
from adapters.inbound.rest.errors import JsonResponse
from adapters.inbound.rest.routing import GatewayState

CHECK_SECONDS = 3.0
"""How long one look at the database or the queue may take: who asks for readiness does not wait for long."""

OPTIONAL = ("queue",)
"""Nothing durable depends on the queue: without it the service is ready, and degraded."""

router = APIRouter(tags=["operations"])


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", response_model=schemas.Alive, summary="The process is up")
async def healthz() -> schemas.Alive:
    """Answers as long as the process runs."""
    return schemas.Alive(status="ok")


@router.head("/readyz", response_model=None, include_in_schema=False)
@router.get(
    "/readyz",
    response_model=schemas.Ready,
    summary="The database takes writes and has the newest schema; a queue that is away is told",
    responses={503: {"model": schemas.NotReady, "description": "What is not ready is named."}},
)
async def readyz(gateway: GatewayState) -> Response | dict[str, object]:
    """Looks at the database, the job queue and the schema. The database and the schema are needed; the queue may be
    degraded."""
    checks = gateway.options.checks
    states = dict(zip(checks, await asyncio.gather(*map(_state, checks.values())), strict=True))
    missing = [f"{name}: {state}" for name, state in states.items() if state != "ok" and name not in OPTIONAL]
    if not missing:
        return _ready(states)
    body = schemas.NotReady(error="; ".join(missing), status="not ready", checks=states)
    return JsonResponse(body.model_dump(), status_code=503, headers={"retry-after": "2"})


@router.get("/metrics", summary="Prometheus metrics", response_class=Response)
async def show_metrics(gateway: GatewayState) -> Response:
    """Counters and timings in the text format of Prometheus."""
    return Response(await gateway.options.metrics(), media_type=CONTENT_TYPE_LATEST)


def _ready(states: Mapping[str, str]) -> dict[str, object]:
    reasons = {name: state for name, state in states.items() if state != "ok"}
    return {"status": "ok", "checks": {**states, **dict.fromkeys(reasons, "degraded")}, "reasons": reasons}


async def _state(check: Callable[[], Awaitable[None]]) -> str:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} seconds"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the operator asks for
        return str(error) or type(error).__name__
    return "ok"
