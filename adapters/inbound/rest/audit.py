"""The audit log over REST."""

import json
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import BeforeValidator, Field

from adapters.inbound.rest.bodies import AT, REQUEST_ID, Answer, Timestamp
from adapters.inbound.rest.csv_files import Format, exported, file_responses
from adapters.inbound.rest.routing import Call, CursorPage, EmptyIsNone, JsonRoute, errors
from domain import limits
from domain.audit import model
from domain.audit.model import AuditFilter
from domain.paging import LARGEST_LIMIT, Page

MOST_PAGES = 500
"""Pages of an export: 100,000 entries."""
COLUMNS = (
    "id",
    "at",
    "userId",
    "keyId",
    "sessionId",
    "address",
    "action",
    "object",
    "result",
    "data",
    "requestId",
    "hash",
)


class Actor(Answer):
    userId: str = Field(
        description="Empty: a command on the server, or the service itself.", examples=["ann"]
    )
    keyId: int | None = Field(description="The API key of the call.", examples=[7])
    sessionId: int | None = Field(description="The session of the call.", examples=[None])
    address: str = Field(
        description="Where the call came from; empty where nobody knows.", examples=["192.0.2.7"]
    )


def _hex(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


Hash = Annotated[str, BeforeValidator(_hex)]


class AuditEntry(Answer):
    id: int = Field(examples=[1204])
    at: Timestamp
    actor: Actor
    action: str = Field(examples=["instance.changed"])
    object: str = Field(examples=["instance:7"])
    result: str = Field(description="done, or refused.", examples=["done"])
    data: dict[str, Any] = Field(
        description="What changed; secrets as `changed`.",
        examples=[{"before": {"name": "Support"}, "after": {"name": "Help"}}],
    )
    requestId: str = Field(examples=[REQUEST_ID])
    hash: Hash = Field(description="SHA-256 over this entry and `previous`, in hexadecimal.")
    previous: Hash = Field(description="The hash of the entry before; empty for the first one.")


class AuditLog(Answer):
    entries: list[AuditEntry] = Field(validation_alias="items")
    next: int | None


async def _wanted(
    actor: Annotated[
        str, Query(max_length=limits.USER_ID, description="Only what this user did.", examples=["ann"])
    ] = "",
    action: Annotated[
        str,
        Query(
            max_length=limits.USER_ID,
            description="One action, or all on a kind of object.",
            examples=["instance.changed"],
        ),
    ] = "",
    subject: Annotated[
        str,
        Query(
            alias="object",
            max_length=limits.USER_ID,
            description="Only on this object.",
            examples=["instance:7"],
        ),
    ] = "",
    after: Annotated[
        datetime | None, EmptyIsNone, Query(description="Not before this time.", examples=[AT])
    ] = None,
) -> AuditFilter:
    return AuditFilter(actor, action, subject, after)


Wanted = Annotated[AuditFilter, Depends(_wanted)]
router = APIRouter(route_class=JsonRoute, tags=["users"])


@router.get(
    "/api/agent/audit",
    response_model=AuditLog,
    responses=errors(400, 403),
    summary="Who changed what, the latest first; for admins",
)
async def list_entries(call: Call, wanted: Wanted, page: CursorPage) -> Page[model.AuditEntry, int]:
    """Each entry was stored in the transaction of its change, and carries the hash of the one before."""
    return await call.services.audit.list(call.caller, wanted, page.limit, page.number)


@router.get(
    "/api/agent/audit/export",
    response_class=StreamingResponse,
    responses=file_responses("The entries, the latest first, at most 100,000.", 400, 403),
    summary="Export the audit log; for admins",
)
async def export_entries(
    call: Call,
    wanted: Wanted,
    format: Annotated[
        Format, Query(description="CSV, or one JSON object on each line.", examples=["csv"])
    ] = "csv",
) -> StreamingResponse:
    """The entries of the list as a file. In CSV a text that a spreadsheet would take for a formula begins with '."""

    async def page_of(cursor: int | None) -> Page[model.AuditEntry, int]:
        return await call.services.audit.list(call.caller, wanted, LARGEST_LIMIT, cursor or 0)

    return await exported("audit", format, COLUMNS, page_of, _cells, _line, MOST_PAGES)


def _line(entry: model.AuditEntry) -> str:
    return AuditEntry.model_validate(entry).model_dump_json()


def _cells(entry: model.AuditEntry) -> dict[str, Any]:
    record = AuditEntry.model_validate(entry).model_dump()
    return {**record, **record["actor"], "data": json.dumps(record["data"], ensure_ascii=False)}
