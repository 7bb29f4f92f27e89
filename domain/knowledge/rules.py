"""Who may do what with a knowledge base."""

from __future__ import annotations

from domain.access.model import Caller
from domain.knowledge.model import Base, Level, ReadPolicy
from domain.refusals import Fault, Forbidden, Invalid

NO_FILES = "No files uploaded"
NO_BASE = "Knowledge base not found"
NO_FILE = "File not found"
NO_CHUNK = "Chunk not found"


def level_of(caller: Caller, granted: Level) -> Level:
    """The caller's level on a base: an admin may do everything everywhere."""
    return Level.DELETE if caller.is_admin else granted


def require(level: Level, needed: Level) -> None:
    """Raises `Forbidden` unless the level includes the needed one."""
    if level < needed:
        raise Forbidden("Forbidden")


def may_read_inside(level: Level, policy: ReadPolicy) -> bool:
    """Whether files, chunks and search of a base are open to a caller of this level."""
    return policy is ReadPolicy.DOCUMENTED or level >= Level.READ


def check_text(field: str, text: str) -> str:
    """Raises `Invalid` for a NUL character, which no database stores: without it the text would be another one."""
    if "\0" in text:
        raise Invalid.of([Fault(field, "must not contain a NUL character")])
    return text


def check_filled(field: str, text: str) -> str:
    """Raises `Invalid` when there is nothing but blanks, and for a NUL character."""
    if not text.strip():
        raise Invalid.of([Fault(field, "must not be empty")])
    return check_text(field, text)


def check_name(name: str) -> str:
    """The name without blanks around it. Raises `Invalid` when nothing is left."""
    return check_filled("name", name).strip()


def upload_message(count: int, *, respond_async: bool) -> str:
    """What an upload is answered with, in a sentence."""
    files = f"{count} file{'s' if count != 1 else ''}"
    return f"{files} accepted, being processed" if respond_async else f"{files} uploaded successfully"


def check_level(level: int) -> Level:
    """Raises `Invalid` for a number that is no level."""
    if level not in tuple(Level):
        raise Invalid.of([Fault("permission_level", "must be 0 (none), 1 (READ), 2 (UPDATE) or 3 (DELETE)")])
    return Level(level)


def check_keeps_owner(base: Base, user_id: str, level: Level) -> None:
    """The creator keeps the full level: a base must not be left without anybody who may delete it."""
    if user_id == base.created_by and level is not Level.DELETE:
        raise Invalid.of([Fault("permission_level", "the creator of a knowledge base keeps level 3")])


def check_window(limit: int, offset: int) -> None:
    """Raises `Invalid` for a window that shows nothing or begins before the start."""
    faults = []
    if not 1 <= limit <= 1000:
        faults.append(Fault("limit", "must be between 1 and 1000"))
    if offset < 0:
        faults.append(Fault("offset", "must be 0 or more"))
    if faults:
        raise Invalid.of(faults)
