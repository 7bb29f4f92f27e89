"""OLE compound files, the container of Word, PowerPoint and Excel before 2007 ([MS-CFB])."""

from __future__ import annotations

from typing import BinaryIO

import olefile

from domain.knowledge.documents import Format
from domain.refusals import Unreadable, Unsupported

_STREAMS = (
    ("WordDocument", Format.DOC),
    ("PowerPoint Document", Format.PPT),
    ("Workbook", Format.XLS),
    ("Book", Format.XLS),
)


def ole_kind(file: BinaryIO, name: str) -> Format:
    """DOC, PPT or XLS by the streams. Raises `Unreadable` for encrypted packages, else `Unsupported`."""
    try:
        file.seek(0)
        with olefile.OleFileIO(file) as ole:
            if ole.exists("EncryptedPackage") or ole.exists("EncryptionInfo"):
                raise Unreadable(
                    f"{name} cannot be read: it is encrypted; remove its password and upload it again"
                )
            for stream, format_ in _STREAMS:
                if ole.exists(stream):
                    return format_
    except (OSError, ValueError, IndexError, TypeError) as error:
        raise Unreadable(
            f"{name} cannot be read: its compound file structure is damaged ({error})"
        ) from error
    raise Unsupported(
        f"{name} is not of a supported format: it is a compound file, and none of DOC, PPT and XLS "
        "(a message or an installer?)"
    )


def title_of(ole: olefile.OleFileIO) -> str:
    """The title in the summary information, or an empty text."""
    try:
        title = ole.get_metadata().title
    except Exception:  # noqa: BLE001 - a broken property set only costs the title
        return ""
    if isinstance(title, bytes):
        return title.decode("utf-8", "replace") if _is_utf8(title) else title.decode("cp1252", "replace")
    return str(title or "")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
