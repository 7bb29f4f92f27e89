"""Reads the folder: polls it for new and changed files, and feeds its files into a knowledge base.

Changes are found by comparing the folder with a snapshot of the last poll.

The cursor is a snapshot, and not the time of the last poll, because files may be moved in, restored or dated back,
and a file with a date in the future must not hide what comes after it.
"""

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.net.google import GoogleError, poll_failures
from adapters.outbound.net.urls import segment
from domain.channels.messages import Attachment, Event, Outcome, Sender
from domain.knowledge.sources import model as sources
from ports.capabilities import Polled
from ports.http import HttpAnswer, HttpFailed

from .api import Drive
from .config import TARGET, DriveConfig, FileTarget

_ANSWER_TYPES = frozenset({"text/plain", "application/vnd.google-apps.document"})
MARK = "switchboard"
"""The property of every file that we write, visible to all OAuth clients (`properties`): else two instances that
watch one folder with different clients would answer each other's answers."""

MAX_EVENTS = 500
"""Events of one poll."""

MAX_ATTACHED = 25 * 1024 * 1024
_AHEAD = timedelta(minutes=1)
"""How far Google's clock may be ahead of ours."""
_FOLDER = "application/vnd.google-apps.folder"
_SHORTCUT = "application/vnd.google-apps.shortcut"
_OFFICE = "application/vnd.openxmlformats-officedocument"
NATIVE = {
    "application/vnd.google-apps.document": ("gdoc", "docx", f"{_OFFICE}.wordprocessingml.document"),
    "application/vnd.google-apps.spreadsheet": ("gsheet", "xlsx", f"{_OFFICE}.spreadsheetml.sheet"),
    "application/vnd.google-apps.presentation": ("gslides", "pptx", f"{_OFFICE}.presentationml.presentation"),
}
"""Google's own types: the extension that names them in fileTypes, and what they are exported to."""
LONGEST_WAIT, USUAL_WAIT = 3600.0, 60.0
_GOOGLE = "application/vnd.google-apps."
_EXPORTS = {
    **{mime_type: (extension, export) for mime_type, (_, extension, export) in NATIVE.items()},
    f"{_GOOGLE}drawing": ("pdf", "application/pdf"),
}
_FILE, _VIEW = "https://drive.google.com/file/d/", "/view"
_GONE, _BUSY = 404, 429


@dataclass(frozen=True, slots=True)
class Folder:
    """Polls the folder, and reads it for a knowledge base."""

    drive: Drive
    default_interval_minutes: float = 10.0

    async def poll(
        self, config: DriveConfig, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        """What changed since the cursor; on the first poll since the instance was created."""
        with poll_failures():
            files = await files_of(self.drive, config)
        present = {text(file, "id"): state_of(file) for file in files}
        known: Mapping[str, str]
        if cursor is None:
            known = {text(file, "id"): state_of(file) for file in files if not _is_new(file, since, now)}
        else:  # in another folder, polling begins with what is there now
            known = cursor["files"] if cursor.get("folder") == config.folder_id else dict(present)
        changed = [file for file in files if known.get(text(file, "id")) != present[text(file, "id")]]
        changed.sort(key=lambda file: text(file, "modifiedTime"))
        taken, left = changed[:MAX_EVENTS], {text(file, "id") for file in changed[MAX_EVENTS:]}
        # What is left over keeps its state, so that the next poll finds it.
        snapshot = {file_id: state for file_id, state in present.items() if file_id not in left}
        snapshot |= {file_id: known[file_id] for file_id in left if file_id in known}
        extensions = config.extensions
        events = [_event(file, config) for file in taken if is_wanted(file, extensions)]
        return Polled(events, {"folder": config.folder_id, "files": snapshot}, more=bool(left))

    def base_id(self, config: DriveConfig) -> int | None:
        return None if config.knowledge_base_id is None else int(config.knowledge_base_id)

    def address(self, config: DriveConfig) -> str:
        return f"https://drive.google.com/drive/folders/{segment(config.folder_id)}"

    async def read(
        self, config: DriveConfig, page: sources.PageToRead
    ) -> sources.PageContent | sources.Listing:
        try:
            if page.kind is sources.PageKind.ROOT:
                extensions = config.extensions
                files = await files_of(self.drive, config)
                return sources.Listing([_listed(file) for file in files if is_wanted(file, extensions)])
            file_id = unquote(page.address.removeprefix(_FILE).removesuffix(_VIEW))
            file = await self.drive.file(config, file_id)
        except GoogleError as error:
            raise _refused_by_google(error) from error
        if at(file, "trashed") is True:
            raise sources.PageRefused(sources.PageStatus.GONE, "it is in the trash")
        extension, export = _EXPORTS.get(text(file, "mimeType"), ("", ""))
        name = f"{text(file, 'name')}.{extension}" if extension else text(file, "name")
        return sources.PageContent(name, page.address, self._content(config, file_id, export))

    async def _content(self, config: DriveConfig, file_id: str, export: str) -> AsyncIterator[bytes]:
        try:
            async for piece in self.drive.download(config, file_id, export, whole=True):
                yield piece
        except GoogleError as error:
            raise _refused_by_google(error) from error
        except HttpFailed as failed:
            raise _refused(str(failed), failed.answer, away=failed.answer is None) from failed


def _is_new(file: Mapping[str, Any], since: datetime, now: datetime) -> bool:
    """Return True if a file was created or changed after a moment. Google sets the time of its creation; anybody can
    set that of its change, so one in the future is ignored."""
    for name, end in (("createdTime", None), ("modifiedTime", now + _AHEAD)):
        with suppress(ValueError):
            moment = datetime.fromisoformat(text(file, name))
            if moment.tzinfo and moment >= since and (end is None or moment <= end):
                return True
    return False


async def files_of(drive: Drive, config: DriveConfig) -> list[Mapping[str, Any]]:
    """All files of the folder but our own."""
    files: list[Mapping[str, Any]] = []
    page = ""
    while True:
        body = await drive.children(config, page)
        for file in items(body, "files"):
            is_ours = any(at(file, name, MARK) is not None for name in ("properties", "appProperties"))
            if text(file, "id") and not is_ours and text(file, "mimeType") not in (_FOLDER, _SHORTCUT):
                files.append(file)
        following = text(body, "nextPageToken")
        if not following or following == page:
            return files
        page = following


def state_of(file: Mapping[str, Any]) -> str:
    """What changes when a file does. The version grows with things that nobody sees (a preview was made), so it
    counts only where there is no checksum of the content."""
    checksum = text(file, "md5Checksum")
    if not checksum:
        return text(file, "version") or text(file, "modifiedTime")
    seen = "\n".join([checksum, text(file, "modifiedTime"), text(file, "name")])
    return hashlib.sha256(seen.encode()).hexdigest()[:16]


def is_wanted(file: Mapping[str, Any], extensions: set[str]) -> bool:
    name = text(file, "name")
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    native = NATIVE.get(text(file, "mimeType"), ("",))[0]
    return not extensions or bool({extension, native} - {""} & extensions)


def _event(file: Mapping[str, Any], config: DriveConfig) -> Event:
    file_id, name = text(file, "id"), text(file, "name")
    url = text(file, "webViewLink") or f"https://drive.google.com/file/d/{segment(file_id)}/view"
    user = text(file, "lastModifyingUser", "emailAddress")
    mime_type, size = text(file, "mimeType"), text(file, "size")
    attachments: tuple[Attachment, ...] = ()  # the file, unless it is too large or has no form outside Drive
    if mime_type in NATIVE:
        _, extension, export = NATIVE[mime_type]
        attachments = (Attachment(f"{name}.{extension}", export, {"fileId": file_id, "export": export}),)
    elif size.isdigit() and int(size) <= MAX_ATTACHED:
        attachments = (Attachment(name, mime_type, {"fileId": file_id, "export": ""}, size=int(size)),)
    return Event(
        key=f"{file_id}:{text(file, 'version') or state_of(file)}",
        session_id=config.folder_id,
        sender=Sender(user or "drive", text(file, "lastModifyingUser", "displayName")),
        text=f"File updated: {name} at {url}",
        target=TARGET.dump(FileTarget(file_id=file_id, name=name)),
        attachments=attachments,
        ids=(file_id,),
        # Looks like a file that an instance writes, in case the server keeps neither property nor id. Other files
        # are not taken for answers: people add files one by one too.
        automated=mime_type in _ANSWER_TYPES or "answer" in name.lower(),
        raw={"fileId": file_id, "name": name, "modifiedTime": text(file, "modifiedTime"), "url": url},
    )


def _listed(file: Mapping[str, Any]) -> sources.ListedPage:
    file_id, mime_type = text(file, "id"), text(file, "mimeType")
    problem = None
    if mime_type.startswith(_GOOGLE) and mime_type not in _EXPORTS:
        problem = f"Google's type {mime_type.removeprefix(_GOOGLE)} has no format that can be read"
    elif mime_type.startswith("video/"):
        problem = "videos are not read"
    address = f"{_FILE}{segment(file_id)}{_VIEW}"
    return sources.ListedPage(
        sources.key_of(file_id), address, sources.PageKind.PAGE, text(file, "name"), state_of(file), problem
    )


def _refused_by_google(error: GoogleError) -> Exception:
    return _refused(str(error), error.answer, away=error.sent.outcome is not Outcome.PERMANENT)


def _refused(message: str, answer: HttpAnswer | None, *, away: bool) -> Exception:
    status = answer.status if answer else 0
    if status == _GONE:
        return sources.PageRefused(sources.PageStatus.GONE, message)
    if status == _BUSY or (away and answer is not None):
        asked = answer.retry_after if answer else None
        return sources.PageLater(min(LONGEST_WAIT, USUAL_WAIT if asked is None else asked), message)
    return sources.PageRefused(sources.PageStatus.FAILED, message, unreachable=away)
