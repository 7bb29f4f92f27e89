"""The files of a knowledge base over REST: how far they are, deleting, retrying, their texts; search explained."""

from fastapi import APIRouter, Request

from adapters.inbound.rest import base_file_schemas as schemas
from adapters.inbound.rest.knowledge import BASE
from adapters.inbound.rest.knowledge_files import NAME_PARAMETER
from adapters.inbound.rest.knowledge_schemas import SearchRequest
from adapters.inbound.rest.routing import (
    CURSOR_PARAMETERS,
    BaseId,
    CurrentCaller,
    CursorPage,
    JsonRoute,
    RequestedPage,
    Services,
    errors,
)
from adapters.inbound.rest.schemas import Accepted
from domain.knowledge.model import FileState, FileText, UploadRules
from domain.knowledge.ranking import Explanation
from domain.paging import Page

FILE = BASE + "/{id}/files/{fileId}"

router = APIRouter(route_class=JsonRoute, tags=["knowledge bases"])


@router.get(
    BASE + "/upload-rules",
    response_model=schemas.UploadRules,
    responses=errors(),
    summary="What one upload may bring",
)
async def upload_rules(services: Services, caller: CurrentCaller) -> UploadRules:
    """The largest file, the most files, and the formats that this installation reads."""
    return await services.base_files.rules(caller)


@router.get(
    BASE + "/{id}/file-states",
    response_model=schemas.FileStateList,
    responses=errors(400, 403, 404),
    summary="How far the files of a knowledge base are",
    openapi_extra={"parameters": [*CURSOR_PARAMETERS, NAME_PARAMETER]},
)
async def list_states(
    services: Services, caller: CurrentCaller, base: BaseId, page: CursorPage, request: Request
) -> Page[FileState, int]:
    """The files without their texts, the newest first."""
    name = request.query_params.get("name", "")
    return await services.base_files.states(caller, base, page.limit, page.number, name)


@router.get(
    FILE,
    response_model=schemas.FileStateAnswer,
    responses=errors(403, 404),
    summary="How far a file is",
)
async def get_state(
    services: Services, caller: CurrentCaller, base: BaseId, fileId: str
) -> dict[str, FileState]:
    """One file of a knowledge base without its text, by its hash."""
    return {"file": await services.base_files.state(caller, base, fileId)}


@router.delete(
    FILE,
    status_code=204,
    responses=errors(403, 404),
    summary="Delete a file, or cancel its upload; needs UPDATE",
)
async def delete_file(services: Services, caller: CurrentCaller, base: BaseId, fileId: str) -> None:
    """Deletes a file with its chunks. One that is being processed is cancelled: where its uploader waits for the
    answer, with all files of the upload. Needs level 2 (UPDATE)."""
    await services.base_files.remove(caller, base, fileId)


@router.post(
    FILE + "/retry",
    status_code=202,
    response_model=Accepted,
    responses=errors(403, 404, 409),
    summary="Process a file again that failed; needs UPDATE",
)
async def retry_file(services: Services, caller: CurrentCaller, base: BaseId, fileId: str) -> Accepted:
    """Processes a file again that failed. 409 for one that did not. Needs level 2 (UPDATE)."""
    await services.base_files.retry(caller, base, fileId)
    return Accepted(message="The file is processed again")


@router.get(
    FILE + "/text",
    response_model=schemas.FileTextAnswer,
    responses=errors(400, 403, 404),
    summary="A file's text with its chunks; query: limit (5), offset (0)",
)
async def read_text(
    services: Services, caller: CurrentCaller, page: RequestedPage, base: BaseId, fileId: str
) -> FileText:
    """The stretch of the text in which `limit` chunks from `offset` on stand, and where they stand in it. The
    stretches of offsets that follow each other hold the whole text."""
    return await services.base_files.text(caller, base, fileId, page.limit, page.offset)


@router.post(
    BASE + "/{id}/search/explain",
    response_model=schemas.ExplanationAnswer,
    responses=errors(400, 403, 404),
    summary="What a search finds, and why",
)
async def explain_search(
    services: Services, caller: CurrentCaller, base: BaseId, body: SearchRequest
) -> Explanation:
    """The results of the search with both scores, ranks and highlights, then what only one of the two searches (by
    words, by meaning) found among its best."""
    return await services.search.explain(caller, base, body.query, body.options())
