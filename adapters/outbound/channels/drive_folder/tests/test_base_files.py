"""The files of a folder on their way into a knowledge base: what is listed, exported, gone, refused."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.drive_folder.channel import build
from adapters.outbound.channels.drive_folder.config import CONFIG as MODEL
from adapters.outbound.channels.drive_folder.config import DEFINITION, DriveConfig
from adapters.outbound.channels.tests.support import client, dependencies
from domain.instances.validation import faults_of
from domain.knowledge.sources.model import (
    Listing,
    PageContent,
    PageKind,
    PageLater,
    PageRefused,
    PageStatus,
    PageToRead,
)
from ports.capabilities import BaseFolder
from tests.support.platforms.drive import CLIENT, DOCUMENT, FOLDER, Drive, error

SETTINGS: dict[str, Any] = {**CLIENT, "folderId": FOLDER, "knowledgeBaseId": 7}
CONFIG = MODEL.load(SETTINGS)
ROOT = PageToRead(1, PageKind.ROOT, "")


@pytest.fixture
async def drive() -> AsyncIterator[Drive]:
    async with Drive.run() as platform:
        yield platform


@pytest.fixture
async def folder(drive: Drive) -> AsyncIterator[BaseFolder[DriveConfig]]:
    addresses = {"DRIVE_FOLDER_API_URL": drive.url, "GOOGLE_TOKEN_URL": f"{drive.url}/token"}
    async with client() as http:
        folder = build(dependencies(http, addresses)).folder
        assert folder
        yield folder


async def pages(folder: BaseFolder[DriveConfig], config: DriveConfig = CONFIG) -> dict[str, PageToRead]:
    """The listed files by name, as they are to be read."""
    listing = await folder.read(config, ROOT)
    assert isinstance(listing, Listing)
    return {page.name: PageToRead(2, page.kind, page.address) for page in listing.pages}


async def read(folder: BaseFolder[DriveConfig], page: PageToRead) -> tuple[str, bytes]:
    content = await folder.read(CONFIG, page)
    assert isinstance(content, PageContent)
    return content.name, b"".join([piece async for piece in content.content])


async def test_every_file_is_listed_with_what_tells_its_version(
    drive: Drive, folder: BaseFolder[DriveConfig]
) -> None:
    plan = drive.put("plan.pdf")
    for number in range(5):
        drive.put(f"old{number}.txt")
    drive.put("form", "application/vnd.google-apps.form")
    drive.put("answer.txt", properties={"switchboard": "answer"})
    before = await folder.read(CONFIG, ROOT)
    drive.touch(plan)
    touched = await folder.read(CONFIG, ROOT)
    drive.change(plan)
    changed = await folder.read(CONFIG, ROOT)
    assert isinstance(before, Listing)
    assert isinstance(touched, Listing)
    assert isinstance(changed, Listing)
    assert len(before.pages) == 7
    assert before == touched
    assert changed.pages[0].version != before.pages[0].version
    assert changed.pages[1:] == before.pages[1:]
    assert before.pages[6].problem == "Google's type form has no format that can be read"
    assert set(await pages(folder, MODEL.load({**SETTINGS, "fileTypes": "pdf"}))) == {"plan.pdf"}


async def test_documents_of_google_are_exported(drive: Drive, folder: BaseFolder[DriveConfig]) -> None:
    drive.contents[drive.put("minutes", DOCUMENT)] = b"minutes"
    drive.contents[drive.put("plan.txt", "text/plain")] = b"x" * 11_000_000
    listed = await pages(folder)
    assert await read(folder, listed["minutes"]) == ("minutes.docx", b"exported minutes")
    name, content = await read(folder, listed["plan.txt"])
    assert (name, len(content)) == ("plan.txt", 11_000_000)


async def test_what_google_says_of_a_file_that_cannot_be_read(
    drive: Drive, folder: BaseFolder[DriveConfig]
) -> None:
    file_id = drive.put("plan.txt", "text/plain")
    drive.contents[file_id] = b"content"
    page = (await pages(folder))["plan.txt"]
    drive.change(file_id, trashed=True)
    with pytest.raises(PageRefused, match="trash") as gone:
        await folder.read(CONFIG, page)
    assert gone.value.status is PageStatus.GONE
    del drive.files[file_id]
    with pytest.raises(PageRefused) as gone:
        await folder.read(CONFIG, page)
    assert gone.value.status is PageStatus.GONE
    drive.next_reply(429, error(429, "slow down", "rateLimitExceeded").json, Retry_After="7")
    with pytest.raises(PageLater) as later:
        await folder.read(CONFIG, page)
    assert later.value.seconds == 7
    drive.next_reply(403, error(403, "no", "insufficientFilePermissions").json)
    with pytest.raises(PageRefused) as refused:
        await folder.read(CONFIG, page)
    assert refused.value.status is PageStatus.FAILED


def test_the_base_is_named_by_a_whole_number() -> None:
    for wrong in (0, -1, 1.5, 2**40):
        faults = faults_of(DEFINITION, "Folder", {**SETTINGS, "knowledgeBaseId": wrong}, None)
        assert [fault.field for fault in faults] == ["config.knowledgeBaseId"]
    assert faults_of(DEFINITION, "Folder", SETTINGS, None) == []
