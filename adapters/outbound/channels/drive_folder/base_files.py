"""The files of a folder as they are fed into a knowledge base."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.drive_folder.api import Drive
from adapters.outbound.channels.drive_folder.config import DriveConfig
from adapters.outbound.channels.drive_folder.polling import NATIVE, files_of, is_wanted, state_of
from adapters.outbound.http.paths import segment
from adapters.outbound.oauth.google import GoogleError
from domain.channels.messages import Outcome
from domain.knowledge.sources.model import (
    ListedPage,
    Listing,
    PageContent,
    PageKind,
    PageLater,
    PageRefused,
    PageStatus,
    PageToRead,
    key_of,
)
from ports.http import HttpAnswer, HttpFailed

LONGEST_WAIT, USUAL_WAIT = 3600.0, 60.0
_GOOGLE = "application/vnd.google-apps."
_EXPORTS = {
    **{mime_type: (extension, export) for mime_type, (_, extension, export) in NATIVE.items()},
    f"{_GOOGLE}drawing": ("pdf", "application/pdf"),
}
_FILE, _VIEW = "https://drive.google.com/file/d/", "/view"
_GONE, _BUSY = 404, 429


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """Conforms to `BaseFolder`."""

    drive: Drive

    def base_id(self, config: DriveConfig) -> int | None:
        return None if config.knowledge_base_id is None else int(config.knowledge_base_id)

    def address(self, config: DriveConfig) -> str:
        return f"https://drive.google.com/drive/folders/{segment(config.folder_id)}"

    async def read(self, config: DriveConfig, page: PageToRead) -> PageContent | Listing:
        try:
            if page.kind is PageKind.ROOT:
                return await self._listing(config)
            file_id = unquote(page.address.removeprefix(_FILE).removesuffix(_VIEW))
            file = await self.drive.file(config, file_id)
        except GoogleError as error:
            raise _refused(
                str(error), error.answer, away=error.sent.outcome is not Outcome.PERMANENT
            ) from error
        if at(file, "trashed") is True:
            raise PageRefused(PageStatus.GONE, "it is in the trash")
        extension, export = _EXPORTS.get(text(file, "mimeType"), ("", ""))
        name = f"{text(file, 'name')}.{extension}" if extension else text(file, "name")
        return PageContent(name, page.address, self._content(config, file_id, export))

    async def _listing(self, config: DriveConfig) -> Listing:
        extensions = config.extensions
        files = [file for file in await files_of(self.drive, config) if is_wanted(file, extensions)]
        return Listing([_listed(file) for file in files])

    async def _content(self, config: DriveConfig, file_id: str, export: str) -> AsyncIterator[bytes]:
        try:
            async for piece in self.drive.download(config, file_id, export, whole=True):
                yield piece
        except GoogleError as error:
            raise _refused(
                str(error), error.answer, away=error.sent.outcome is not Outcome.PERMANENT
            ) from error
        except HttpFailed as failed:
            raise _refused(str(failed), failed.answer, away=failed.answer is None) from failed


def _listed(file: Mapping[str, Any]) -> ListedPage:
    file_id, mime_type = text(file, "id"), text(file, "mimeType")
    problem = None
    if mime_type.startswith(_GOOGLE) and mime_type not in _EXPORTS:
        problem = f"Google's type {mime_type.removeprefix(_GOOGLE)} has no format that can be read"
    elif mime_type.startswith("video/"):
        problem = "videos are not read"
    address = f"{_FILE}{segment(file_id)}{_VIEW}"
    return ListedPage(key_of(file_id), address, PageKind.PAGE, text(file, "name"), state_of(file), problem)


def _refused(message: str, answer: HttpAnswer | None, *, away: bool) -> Exception:
    status = answer.status if answer else 0
    if status == _GONE:
        return PageRefused(PageStatus.GONE, message)
    if status == _BUSY or (away and answer is not None):
        asked = answer.retry_after if answer else None
        return PageLater(min(LONGEST_WAIT, USUAL_WAIT if asked is None else asked), message)
    return PageRefused(PageStatus.FAILED, message, unreachable=away)
