"""For operators: is the process up, is it ready, what does it count. No key is needed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field

from adapters.inbound.rest import errors
from adapters.inbound.rest.asgi import App
from adapters.inbound.rest.bodies import Answer
from adapters.inbound.rest.errors import JsonResponse
from domain.refusals import INTERNAL


class Alive(Answer):
    status: Literal["ok"]


class Ready(Answer):
    status: Literal["ok"]
    checks: dict[str, Literal["ok", "degraded"]] = Field(
        description="What was looked at, and how it is.",
        examples=[{"database": "ok", "queue": "degraded", "migrations": "ok"}],
    )
    reasons: dict[str, str] = Field(
        description="What is wrong with what is degraded.",
        examples=[{"queue": "the job queue is away for the moment; try again shortly"}],
    )


class NotReady(Answer):
    error: str = Field(examples=["database: the database cannot be written: its disk is full"])
    status: Literal["not ready"]
    checks: dict[str, str] = Field(
        description="What was looked at, and what is wrong with it.",
        examples=[
            {
                "database": "the database cannot be written: its disk is full",
                "queue": "ok",
                "migrations": "ok",
            }
        ],
    )


Checks = Mapping[str, Callable[[], Awaitable[None]]]
CHECK_SECONDS = 3.0
"""How long one look at the database or the queue may take: who asks for readiness does not wait for long."""
OPTIONAL = ("queue", "certificates", "workers")
"""Nothing durable depends on the queue, the former certificates serve while new ones cannot be used, and messages are
taken and kept while no worker runs: the service is ready, and degraded."""
router = APIRouter(tags=["operations"])


@dataclass(frozen=True, slots=True)
class Operations:
    """What operators may ask a process for. `checks` raise when what they look at is not ready."""

    checks: Checks
    metrics: Callable[[], Awaitable[bytes]]


def build(operations: Operations) -> App:
    """/healthz, /readyz and /metrics alone."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.state.operations = operations
    errors.install(app)
    app.include_router(router)
    return app


async def _operations(request: Request) -> Operations:
    operations: Operations = request.app.state.operations
    return operations


AskedOperations = Annotated[Operations, Depends(_operations)]


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", response_model=Alive, summary="The process is up")
async def healthz() -> Alive:
    """Answers as long as the process runs."""
    return Alive(status="ok")


@router.head("/readyz", response_model=None, include_in_schema=False)
@router.get(
    "/readyz",
    response_model=Ready,
    summary="The database takes writes and has the newest schema; a queue that is away is told",
    responses={503: {"model": NotReady, "description": "What is not ready is named."}},
)
async def readyz(operations: AskedOperations) -> Response | dict[str, object]:
    """Looks at the database, the job queue and the schema. The database and the schema are needed; the queue may be
    degraded."""
    checks = operations.checks
    states = dict(zip(checks, await asyncio.gather(*map(_state, checks.values())), strict=True))
    missing = [f"{name}: {state}" for name, state in states.items() if state != "ok" and name not in OPTIONAL]
    if missing:
        body = NotReady(error="; ".join(missing), status="not ready", checks=states)
        return JsonResponse(body.model_dump(), status_code=503, headers={"retry-after": "2"})
    reasons = {name: state for name, state in states.items() if state != "ok"}
    return {"status": "ok", "checks": {**states, **dict.fromkeys(reasons, "degraded")}, "reasons": reasons}


@router.get("/metrics", summary="Prometheus metrics", response_class=Response)
async def show_metrics(operations: AskedOperations) -> Response:
    """Counters and timings in the text format of Prometheus."""
    return Response(await operations.metrics(), media_type=CONTENT_TYPE_LATEST)


async def _state(check: Callable[[], Awaitable[None]]) -> str:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} seconds"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the operator asks for
        return str(error) or INTERNAL
    return "ok"
