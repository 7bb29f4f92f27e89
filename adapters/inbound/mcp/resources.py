"""Knowledge bases and texts of files as MCP resources."""

import json
import re
from typing import TypeAlias

from mcp_types import (
    Annotations,
    BlobResourceContents,
    ListResourcesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from adapters.inbound.mcp.knowledge_tools import (
    BASE_URI,
    MOST_BASES,
    SHOWN_DESCRIPTION,
    base_uri,
    page_of_bases,
)
from adapters.inbound.rest.bodies import Answer, Timestamp, attribute
from adapters.inbound.rest.knowledge_files import FileStatus
from domain.access.model import Caller
from domain.knowledge.model import Base
from domain.knowledge.rules import LARGEST_WINDOW
from domain.paging import LARGEST_LIMIT
from domain.refusals import NotFound
from domain.use_cases import UseCases
from domain.values import iso_milliseconds

Contents: TypeAlias = TextResourceContents | BlobResourceContents
JSON, TEXT = "application/json", "text/plain"
FILE_URI = "switchboard://files/"
BASE = re.compile(rf"{BASE_URI}(\d{{1,18}})(?:\?cursor=(\d{{1,18}}))?", re.ASCII)
FILE = re.compile(rf"{FILE_URI}([0-9a-f]{{64}})(?:\?offset=(\d{{1,9}}))?", re.ASCII)
UNKNOWN = "there is no resource at this address; resources/list and resources/templates/list name them"

TEMPLATES = (
    ResourceTemplate(
        name="knowledge-base",
        title="Knowledge base",
        uri_template=BASE_URI + "{id}{?cursor}",
        description="What a knowledge base is about, and its files, the newest first.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        name="file-text",
        title="Text of a file",
        uri_template=FILE_URI + "{fileId}{?offset}",
        description=f"The text of a file of a knowledge base, {LARGEST_WINDOW} characters at a time.",
        mime_type=TEXT,
    ),
)


class ListedFile(Answer):
    fileId: str = attribute("hash")
    fileName: str = attribute("name")
    fileSize: int = attribute("size")
    mimeType: str
    status: FileStatus
    error: str | None
    createdAt: Timestamp


async def listed(services: UseCases, caller: Caller, cursor: str | None) -> ListResourcesResult:
    """The bases that the caller may access. Raises refusals."""
    bases, following = await page_of_bases(services, caller, MOST_BASES, cursor)
    return ListResourcesResult(resources=[_resource(base) for base in bases], next_cursor=following)


async def read(services: UseCases, caller: Caller, uri: str) -> ReadResourceResult:
    """Raises refusals."""
    if match := BASE.fullmatch(uri):
        contents = await _base(services, caller, uri, int(match[1]), int(match[2] or 0))
    elif match := FILE.fullmatch(uri):
        contents = await _file(services, caller, uri, match[1], int(match[2] or 0))
    else:
        raise NotFound(UNKNOWN)
    return ReadResourceResult(contents=contents)


async def _base(services: UseCases, caller: Caller, uri: str, base_id: int, cursor: int) -> list[Contents]:
    """What the base is about, and a page of its files."""
    base = await services.bases.get(caller, base_id)
    page = await services.base_files.states(caller, base_id, LARGEST_LIMIT, cursor)
    files = [
        ListedFile.model_validate(file).model_dump(mode="json") | {"uri": f"{FILE_URI}{file.hash}"}
        for file in page.items
    ]
    following = f"{base_uri(base_id)}?cursor={page.next}" if page.next else None
    value = {
        "id": base.id,
        "name": base.name,
        "description": base.description,
        "files": files,
        "next": following,
    }
    return [TextResourceContents(uri=uri, mime_type=JSON, text=json.dumps(value, ensure_ascii=False))]


async def _file(services: UseCases, caller: Caller, uri: str, file_hash: str, offset: int) -> list[Contents]:
    """A window of the text, and where it goes on."""
    window = await services.files.text(caller, file_hash, LARGEST_WINDOW, offset)
    contents: list[Contents] = [TextResourceContents(uri=uri, mime_type=TEXT, text=window.text)]
    if window.next is not None:
        following = f"{FILE_URI}{file_hash}?offset={window.next}"
        note = f"{window.remaining} more characters follow: read {following}"
        contents.append(TextResourceContents(uri=following, mime_type=TEXT, text=note))
    return contents


def _resource(base: Base) -> Resource:
    return Resource(
        uri=base_uri(base.id),
        name=f"knowledge-base-{base.id}",
        title=base.name,
        description=base.description[:SHOWN_DESCRIPTION] or None,
        mime_type=JSON,
        annotations=Annotations(last_modified=iso_milliseconds(base.updated_at)),
    )
