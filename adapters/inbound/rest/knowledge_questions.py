"""Questions to knowledge bases over REST."""

from fastapi import APIRouter, Request

from adapters.inbound.rest import question_schemas as schemas
from adapters.inbound.rest.hanging_up import while_connected
from adapters.inbound.rest.knowledge import BASE
from adapters.inbound.rest.routing import BaseId, CurrentCaller, JsonRoute, Services, errors
from domain.knowledge.model import KnowledgeAnswer

router = APIRouter(route_class=JsonRoute, tags=["knowledge bases"])


@router.post(
    BASE + "/{id}/ask",
    response_model=schemas.AskAnswer,
    responses=errors(400, 403, 404, 413, 429),
    summary="Ask a knowledge base; the answer cites its passages",
)
async def ask_base(
    services: Services, caller: CurrentCaller, base: BaseId, body: schemas.AskRequest, request: Request
) -> KnowledgeAnswer:
    """Answers from the base by the model that a chat-completions rule of RESOURCES_FILE puts behind `agent::kb-<id>`,
    else with the best passages. Each citation is a passage of the base. 503 where the model gives no answer."""
    history = [turn.turn() for turn in body.history]
    asked = services.questions.ask(caller, base, body.question, history)
    return await while_connected(request, asked)
