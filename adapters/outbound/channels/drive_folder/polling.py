"""Finds new and changed files by comparing the folder with a snapshot of the last look.

A snapshot, and not the time of the last check, because files may be moved in, restored or dated back, and a file
with a date in the future must not hide what comes after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Mapping
from datetime import datetime, timedelta
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.drive_folder.api import Drive
from adapters.outbound.http.paths import segment
from adapters.outbound.oauth.google_api import is_rate_limit, words_of
from adapters.outbound.oauth.tokens import TokenRefused, TokenUnavailable
from domain.channels.messages import Attachment, Config, Event, Sender
from ports.channels import Polled, PollFailed
from ports.http import HttpAnswer, HttpFailed

_ANSWER_TYPES = frozenset({"text/plain", "application/vnd.google-apps.document"})
MARK = "switchboard"
"""The property that every file of ours bears, for all OAuth clients to see (`properties`): another instance that
watches the folder under another client would answer our answers, and we its."""

AT_ONCE = 500
"""Events that one look gives."""

MAX_ATTACHED = 25 * 1024 * 1024
DEFAULT_WAIT = 60.0
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


async def poll(
    drive: Drive, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
) -> Polled:
    """What changed since the cursor; on the first poll since the instance was made. Raises `PollFailed`."""
    files = await _listed(drive, config)
    present = {text(each, "id"): _state(each) for each in files}
    folder = str(config["folderId"])
    known: Mapping[str, str]
    if cursor is None:
        known = {text(each, "id"): _state(each) for each in files if not _came_after(each, since, now)}
    else:  # of another folder, what is there now is where watching begins
        known = cursor["files"] if cursor.get("folder") == folder else dict(present)
    fresh = [each for each in files if known.get(text(each, "id")) != present[text(each, "id")]]
    fresh.sort(key=lambda each: text(each, "modifiedTime"))
    taken, left = fresh[:AT_ONCE], fresh[AT_ONCE:]
    for each in left:  # stays as it was known, so that the next look finds it
        _restore(present, known, text(each, "id"))
    events = [_event(each, config) for each in taken if _is_wanted(each, config)]
    return Polled(events, {"folder": folder, "files": present}, more=bool(left))


def _came_after(each: Mapping[str, Any], since: datetime, now: datetime) -> bool:
    """Whether a file was made or changed after a moment. Google sets the time of its making; that of its change
    may be set by anybody, so one in the future says nothing."""
    made, changed = (_time(each, name) for name in ("createdTime", "modifiedTime"))
    return (made is not None and made >= since) or (changed is not None and since <= changed <= now + _AHEAD)


def _time(each: Mapping[str, Any], name: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text(each, name))
    except ValueError:
        return None
    return found if found.tzinfo else None


def _restore(present: dict[str, str], known: Mapping[str, str], file_id: str) -> None:
    if file_id in known:
        present[file_id] = known[file_id]
    else:
        del present[file_id]


async def _listed(drive: Drive, config: Config) -> list[Mapping[str, Any]]:
    """All files of the folder but our own. Raises `PollFailed`."""
    found: list[Mapping[str, Any]] = []
    page = ""
    while True:
        body = checked(await asked(drive.children(config, page)))
        found += [each for each in items(body, "files") if _is_file(each)]
        following = text(body, "nextPageToken")
        if not following or following == page:
            return found
        page = following


def _is_file(each: object) -> bool:
    ours = any(at(each, name, MARK) is not None for name in ("properties", "appProperties"))
    return bool(text(each, "id")) and not ours and text(each, "mimeType") not in (_FOLDER, _SHORTCUT)


async def asked(call: Awaitable[HttpAnswer]) -> HttpAnswer:
    """The answer to a call. Raises `PollFailed`; fatal when the credentials are dead."""
    try:
        return await call
    except TokenRefused as error:
        raise PollFailed(f"Google no longer takes the credentials: {error}", fatal=True) from error
    except TokenUnavailable as error:
        raise PollFailed(str(error), retry_after=error.retry_after) from error
    except HttpFailed as error:
        raise PollFailed(f"Google Drive cannot be reached: {error}") from error


def checked(answer: HttpAnswer) -> Mapping[str, Any]:
    """The body of a good answer. Raises `PollFailed` in Google's own words."""
    body = answer.json()
    if answer.ok and isinstance(body, dict):
        return body
    wait = answer.retry_after
    if is_rate_limit(answer) and wait is None:
        wait = DEFAULT_WAIT
    raise PollFailed(words_of(answer, "Google Drive"), retry_after=wait)


def _state(each: Mapping[str, Any]) -> str:
    """What changes when a file does. The version grows with things that nobody sees (a preview was made), so it
    counts only where there is no checksum of the content."""
    checksum = text(each, "md5Checksum")
    if not checksum:
        return text(each, "version") or text(each, "modifiedTime")
    seen = "\n".join([checksum, text(each, "modifiedTime"), text(each, "name")])
    return hashlib.sha256(seen.encode()).hexdigest()[:16]


def _is_wanted(each: Mapping[str, Any], config: Config) -> bool:
    wanted = {kind.strip().lower().lstrip(".") for kind in str(config.get("fileTypes") or "").split(",")} - {
        ""
    }
    name = text(each, "name")
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    native = NATIVE.get(text(each, "mimeType"), ("",))[0]
    return not wanted or bool({extension, native} - {""} & wanted)


def _event(each: Mapping[str, Any], config: Config) -> Event:
    file_id, name = text(each, "id"), text(each, "name")
    url = text(each, "webViewLink") or f"https://drive.google.com/file/d/{segment(file_id)}/view"
    user = text(each, "lastModifyingUser", "emailAddress")
    return Event(
        key=f"{file_id}:{text(each, 'version') or _state(each)}",
        session_id=str(config["folderId"]),
        sender=Sender(user or "drive", text(each, "lastModifyingUser", "displayName")),
        text=f"File updated: {name} at {url}",
        target={"fileId": file_id, "name": name},
        attachments=tuple(_attachments(each)),
        ids=(file_id,),
        automated=_may_be_an_answer(each),
        raw={"fileId": file_id, "name": name, "modifiedTime": text(each, "modifiedTime"), "url": url},
    )


def _may_be_an_answer(each: Mapping[str, Any]) -> bool:
    """Whether the file looks like one that an instance writes, in case the server keeps neither mark nor id: a text
    document, also as Google converts it, or its name. Files that people put into the folder one by one come in rounds
    as well, and must not count."""
    return text(each, "mimeType") in _ANSWER_TYPES or "answer" in text(each, "name").lower()


def _attachments(each: Mapping[str, Any]) -> list[Attachment]:
    """The file itself, unless it is too large to hand on or has no form outside Drive."""
    file_id, name, mime_type = text(each, "id"), text(each, "name"), text(each, "mimeType")
    if mime_type in NATIVE:
        _, extension, export = NATIVE[mime_type]
        return [Attachment(f"{name}.{extension}", export, {"fileId": file_id, "export": export})]
    size = text(each, "size")
    if not size.isdigit() or int(size) > MAX_ATTACHED:
        return []
    return [Attachment(name, mime_type, {"fileId": file_id, "export": ""}, size=int(size))]
