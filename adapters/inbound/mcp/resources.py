"""Knowledge bases and texts of files as MCP resources."""

import json
import re

import mcp_types as types

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
from domain.knowledge.rules import LARGEST_WINDOW
from domain.paging import LARGEST_LIMIT
from domain.refusals import NotFound
from domain.use_cases import UseCases
from domain.values import iso_milliseconds

JSON, TEXT = "application/json", "text/plain"
FILE_URI = "switchboard://files/"
BASE = re.compile(rf"{BASE_URI}(\d{{1,18}})(?:\?cursor=(\d{{1,18}}))?", re.ASCII)
FILE = re.compile(rf"{FILE_URI}([0-9a-f]{{64}})(?:\?offset=(\d{{1,9}}))?", re.ASCII)
UNKNOWN = "there is no resource at this address; resources/list and resources/templates/list name them"

TEMPLATES = (
    types.ResourceTemplate(
        name="knowledge-base",
        title="Knowledge base",
        uri_template=BASE_URI + "{id}{?cursor}",
        description="What a knowledge base is about, and its files, the newest first.",
        mime_type=JSON,
    ),
    types.ResourceTemplate(
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


async def listed(services: UseCases, caller: Caller, cursor: str | None) -> types.ListResourcesResult:
    """The bases that the caller may access. Raises refusals."""
    bases, following = await page_of_bases(services, caller, MOST_BASES, cursor)
    shown = [
        types.Resource(
            uri=base_uri(base.id),
            name=f"knowledge-base-{base.id}",
            title=base.name,
            description=base.description[:SHOWN_DESCRIPTION] or None,
            mime_type=JSON,
            annotations=types.Annotations(last_modified=iso_milliseconds(base.updated_at)),
        )
        for base in bases
    ]
    return types.ListResourcesResult(resources=shown, next_cursor=following)


async def read(services: UseCases, caller: Caller, uri: str) -> types.ReadResourceResult:
    """What a base is about and a page of its files, or a window of a file's text and where it goes on. Raises
    refusals."""
    contents: list[types.TextResourceContents | types.BlobResourceContents] = []
    if match := BASE.fullmatch(uri):
        base = await services.bases.get(caller, int(match[1]))
        page = await services.base_files.states(caller, base.id, LARGEST_LIMIT, int(match[2] or 0))
        files = [
            ListedFile.model_validate(file).model_dump(mode="json") | {"uri": f"{FILE_URI}{file.hash}"}
            for file in page.items
        ]
        following = f"{base_uri(base.id)}?cursor={page.next}" if page.next else None
        about = {"id": base.id, "name": base.name, "description": base.description}
        text = json.dumps({**about, "files": files, "next": following}, ensure_ascii=False)
        contents.append(types.TextResourceContents(uri=uri, mime_type=JSON, text=text))
    elif match := FILE.fullmatch(uri):
        window = await services.files.text(caller, match[1], LARGEST_WINDOW, int(match[2] or 0))
        contents.append(types.TextResourceContents(uri=uri, mime_type=TEXT, text=window.text))
        if window.next is not None:
            following = f"{FILE_URI}{match[1]}?offset={window.next}"
            note = f"{window.remaining} more characters follow: read {following}"
            contents.append(types.TextResourceContents(uri=following, mime_type=TEXT, text=note))
    else:
        raise NotFound(UNKNOWN)
    return types.ReadResourceResult(contents=contents)
