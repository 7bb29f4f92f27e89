"""What operators look at over REST: dead letters, the health of all instances, figures, the doctor's findings."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from adapters.inbound.rest import monitoring_schemas as schemas
from adapters.inbound.rest.routing import (
    CURSOR_PARAMETERS,
    CurrentCaller,
    CursorPage,
    InstanceId,
    JsonRoute,
    Services,
    errors,
    parsed_id,
    query_word,
)
from domain.monitoring.model import (
    DeadLetter,
    DeadLetterId,
    DeadLetterView,
    Figures,
    Finding,
    InstanceState,
    ItemResult,
    parse_direction,
    parse_period,
)
from domain.paging import Page
from domain.refusals import Fault, Invalid

DEAD_LETTERS = "/api/agent/dead-letters"
OF_INSTANCE: dict[str, Any] = {
    "name": "instanceId",
    "in": "query",
    "description": "Only of this instance.",
    "schema": {"type": "integer", "minimum": 1},
}

router = APIRouter(route_class=JsonRoute, tags=["monitoring"])


async def _of_instance(request: Request) -> int | None:
    """The instance that the query names. Raises `Invalid`."""
    text = request.query_params.get("instanceId", "")
    number = parsed_id(text)
    if text and number is None:
        raise Invalid.of([Fault("instanceId", "must be the id of an instance")])
    return number


OfInstance = Annotated[int | None, Depends(_of_instance)]


@router.get(
    DEAD_LETTERS,
    response_model=schemas.DeadLetterList,
    responses=errors(400, 403, 404),
    summary="Messages that were given up, of all instances",
    openapi_extra={
        "parameters": [
            OF_INSTANCE,
            {
                "name": "direction",
                "in": "query",
                "description": "Only messages of senders (in) or to them (out).",
                "schema": {"enum": ["in", "out"]},
            },
            *CURSOR_PARAMETERS,
        ]
    },
)
async def list_dead_letters(
    services: Services, caller: CurrentCaller, instance: OfInstance, page: CursorPage, request: Request
) -> Page[DeadLetter, str]:
    """The messages of both directions that were given up, with the reason, the latest first; an admin sees those of
    all users."""
    direction = parse_direction(request.query_params.get("direction", ""))
    letters = services.monitoring.dead_letters
    return await letters.list(caller, instance, direction, page.limit, page.cursor)


@router.get(
    DEAD_LETTERS + "/{instanceId}/{messageId}",
    response_model=schemas.DeadLetterAnswer,
    responses=errors(403, 404),
    summary="One dead letter",
)
async def get_dead_letter(
    services: Services, caller: CurrentCaller, instance: InstanceId, messageId: str
) -> DeadLetterView:
    """With the payload of each part that was given up. 404 for a message that is not given up."""
    return await services.monitoring.dead_letters.get(caller, DeadLetterId(instance, messageId))


@router.post(
    DEAD_LETTERS + "/replay",
    response_model=schemas.DeadLetterResults,
    responses=errors(400, 413),
    summary="Process or send dead letters again",
)
async def replay_dead_letters(
    services: Services, caller: CurrentCaller, body: schemas.ChosenDeadLetters
) -> Mapping[str, Sequence[ItemResult]]:
    """Has messages of senders processed again, with another request id, and sends the dead parts of the others again.
    The answer says for each whether it was done; one that is refused keeps no other from it."""
    return {"results": await services.monitoring.dead_letters.replay(caller, body.ids())}


@router.post(
    DEAD_LETTERS + "/drop",
    response_model=schemas.DeadLetterResults,
    responses=errors(400, 413),
    summary="Drop dead letters",
)
async def drop_dead_letters(
    services: Services, caller: CurrentCaller, body: schemas.ChosenDeadLetters
) -> Mapping[str, Sequence[ItemResult]]:
    """Gives messages up for good: they are listed no more, and cannot be replayed. A message of a sender stays in its
    conversation. The answer says for each whether it was done."""
    return {"results": await services.monitoring.dead_letters.drop(caller, body.ids())}


@router.get(
    "/api/agent/instance-health",
    response_model=schemas.HealthList,
    responses=errors(400),
    summary="The health of all instances",
    openapi_extra={
        "parameters": [
            {
                "name": "failing",
                "in": "query",
                "description": "Only instances that are not healthy.",
                "schema": {"type": "boolean", "default": False},
            },
            *CURSOR_PARAMETERS,
        ]
    },
)
async def list_health(
    services: Services, caller: CurrentCaller, page: CursorPage, request: Request
) -> Page[InstanceState, str]:
    """The health of the caller's instances with what to mend, what waits, and the limits of platforms that hold it
    up; ordered by id. An admin sees the instances of all users."""
    failing = bool(query_word(request, "failing"))
    return await services.monitoring.health.list(caller, page.limit, page.cursor, failing=failing)


@router.get(
    "/api/agent/figures",
    response_model=schemas.FigureReport,
    responses=errors(400, 403, 404),
    summary="Messages received, answered and given up",
    openapi_extra={
        "parameters": [
            {
                "name": "period",
                "in": "query",
                "description": "The last hour by minutes, or the last day by half hours.",
                "schema": {"enum": ["hour", "day"], "default": "hour"},
            },
            OF_INSTANCE,
        ]
    },
)
async def get_figures(
    services: Services, caller: CurrentCaller, instance: OfInstance, request: Request
) -> Figures:
    """How many messages were received, answered and given up, and how long answers took, of the caller's instances or
    of one; for an admin of all. A step counts what happened in it: an answer counts when the platform took it."""
    period = parse_period(request.query_params.get("period", "hour"))
    return await services.monitoring.figures.figures(caller, period, instance)


@router.get(
    "/api/agent/doctor",
    response_model=schemas.FindingList,
    responses=errors(403),
    summary="What the installation lacks",
)
async def list_findings(services: Services, caller: CurrentCaller) -> Mapping[str, Sequence[Finding]]:
    """The findings of `switchboard doctor`, from inside the running service: what is well, what is missing and how to
    mend it. For admins."""
    return {"findings": await services.monitoring.doctor.findings(caller)}
