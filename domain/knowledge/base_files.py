"""The files of one base: how far they are, deleting and retrying, their texts with the chunks in them."""

from collections.abc import Callable, Sequence

from domain.access.model import Caller
from domain.file_names import MAX_FILE_NAME
from domain.knowledge.bases import BaseAccess
from domain.knowledge.files import UploadLimits
from domain.knowledge.maintenance import Retention
from domain.knowledge.model import ChunkPlace, FileState, FileStatus, FileText, Level, UploadRules
from domain.knowledge.rules import NO_FILE, check_text, check_window, is_file_hash
from domain.paging import Page, Window, checked_limit
from domain.refusals import Conflict, NotFound
from ports.indexing import Parser
from ports.knowledge_storage import KnowledgeFileStore

MOST_CHARACTERS = 200_000
"""Of one stretch of text: chunks behind it are left for the next one."""


class BaseFilesService:
    """The files of one base: their states, texts, and what to do with them. `wake` tells the worker of an upload.

    Each method with an id raises `NotFound`, `Forbidden`.
    """

    def __init__(
        self,
        access: BaseAccess,
        files: KnowledgeFileStore,
        retention: Retention,
        parser: Parser,
        wake: Callable[[], None],
        limits: UploadLimits,
    ) -> None:
        self._access = access
        self._files = files
        self._retention = retention
        self._parser = parser
        self._wake = wake
        self._limits = limits

    async def rules(self, caller: Caller) -> UploadRules:
        return UploadRules(self._limits.max_bytes, self._limits.max_files, self._parser.available())

    async def states(
        self, caller: Caller, base_id: int, limit: int, cursor: int, name: str = ""
    ) -> Page[FileState, int]:
        """The newest first; `cursor`: 0 for the first page; `name`: only files whose names hold it, in any case."""
        check_text("name", name, MAX_FILE_NAME)
        await self._access.inside(caller, base_id)
        files = await self._files.states(base_id, checked_limit(limit) + 1, cursor, name)
        shown = files[:limit]
        return Page(shown, shown[-1].id if len(files) > limit else None)

    async def state(self, caller: Caller, base_id: int, file_hash: str) -> FileState:
        await self._access.inside(caller, base_id)
        file = await self._files.state(base_id, file_hash) if is_file_hash(file_hash) else None
        if file is None:
            raise NotFound(NO_FILE)
        return file

    async def remove(self, caller: Caller, base_id: int, file_hash: str) -> None:
        """Deletes a file with its chunks; one that is being processed is cancelled, with all of its upload where the
        caller of the upload waits. Needs UPDATE."""
        await self._access.require(caller, base_id, Level.UPDATE)
        unused = await self._files.remove(base_id, file_hash) if is_file_hash(file_hash) else None
        if unused is None:
            raise NotFound(NO_FILE)
        await self._retention.delete_unreferenced(unused)

    async def retry(self, caller: Caller, base_id: int, file_hash: str) -> None:
        """Has a file that failed processed again. Needs UPDATE. Raises `Conflict` for another one."""
        await self._access.require(caller, base_id, Level.UPDATE)
        owner = caller.user
        status = await self._files.retry(base_id, file_hash, owner) if is_file_hash(file_hash) else None
        if status is None:
            raise NotFound(NO_FILE)
        if status is not FileStatus.FAILED:
            raise Conflict(f"only a file that failed is processed again; this one is {status}")
        self._wake()

    async def text(self, caller: Caller, base_id: int, file_hash: str, limit: int, offset: int) -> FileText:
        """The text around `limit` chunks from `offset` on; fewer where they are very long. Raises `Invalid`."""
        check_window(limit, offset)
        file = await self.state(caller, base_id, file_hash)
        if file.status is not FileStatus.READY:
            return FileText(file, "", 0, 0, (), Window(limit, offset, 0))
        places = await self._files.places(file, limit + 1, offset)
        start, end, shown = _window(places, limit, offset)
        text, length = await self._files.text_of(file, start, end - start)
        return FileText(file, text, start, length, shown, Window(limit, offset, file.chunk_count))


def _window(places: Sequence[ChunkPlace], limit: int, offset: int) -> tuple[int, int, Sequence[ChunkPlace]]:
    """From where to where the text of the first `limit` chunks reaches, and which of them stand in it.

    The stretches of windows that follow each other hold the whole text: the first begins where the text does, each
    ends where the next begins, or with its last chunk, which may reach further.
    """
    if not places:
        return 0, 0, ()
    start = places[0].start or 0 if offset else 0
    shown = [place for place in places[:limit] if place.reach - start <= MOST_CHARACTERS] or places[:1]
    following = places[len(shown)].start if len(places) > len(shown) else None
    reach = max(place.reach for place in shown)
    end = start + MOST_CHARACTERS if following is None else following
    return start, min(start + MOST_CHARACTERS, max(end, reach)), shown
