"""Reads, cuts, embeds and stores uploaded files, and records why an upload failed."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domain import refusals
from domain.knowledge.maintenance import Retention
from domain.knowledge.model import FileRecord
from ports.files import Blobs
from ports.indexing import Embedder, Embedders, Parser
from ports.knowledge_storage import Failure, Staging, UploadStore, Work
from ports.system import Clock, Ids

logger = logging.getLogger(__name__)


_TOLD: dict[str, type[refusals.Refusal]] = {
    kind.reason: kind
    for kind in (
        refusals.Conflict,
        refusals.TooLarge,
        refusals.Unreadable,
        refusals.Unsupported,
        refusals.Unavailable,
    )
}


class ProcessingFailed(Exception):
    """A fault of ours while a file was processed; the details are in the log."""


def cancelled(file_name: str) -> Failure:
    """Why an upload failed one of whose files was deleted before it could be found."""
    return Failure(refusals.Conflict.reason, f"{file_name} was deleted while it was being processed")


def failure_of(refusal: refusals.Refusal) -> Failure:
    return Failure(refusal.reason, refusal.message)


def refusal_of(failure: Failure) -> Exception:
    """The refusal as it was raised by the worker."""
    kind = _TOLD.get(failure.reason)
    return kind(failure.message) if kind else ProcessingFailed(failure.message)


MAX_ATTEMPTS = 4
"""A file over which so many processes died or failed is not tried again."""
BEAT_SECONDS = 1.5
PARSING_AT_ONCE = 2
LOOK_AHEAD, SLICE = 512, 64
"""Pieces are fetched by the hundreds, sorted by length, and embedded in slices, between which others get
their turns."""

UNNAMED = Failure("INTERNAL", "processing failed")


@asynccontextmanager
async def _running(*works: Coroutine[Any, Any, None]) -> AsyncIterator[list[asyncio.Task[None]]]:
    """The tasks of these works; those that go on at the end are cancelled."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _ReadProgress:
    share = 0.0

    def report(self, share: float) -> None:
        self.share = share


@dataclass(eq=False)
class IngestService:
    """One worker's hands. `owner` is the worker_id of its process: it shows that the lease's holder lives.

    `ended` is called after each upload, whatever became of it.
    """

    uploads: UploadStore
    staging: Staging
    blobs: Blobs
    parser: Parser
    embedder: Embedders
    retention: Retention
    clock: Clock
    ids: Ids
    owner: int
    ended: Callable[[], None]

    async def take(self, *, newcomers_only: bool = False) -> Work | None:
        """Leases the next upload; `newcomers_only`: see `UploadStore.claim`."""
        return await self.uploads.claim(self.owner, newcomers_only=newcomers_only)

    async def work(self, work: Work) -> None:
        """Processes an upload until it is published, failed or put back for a retry; no further where the lease was
        lost: the base is gone, or another process has taken over."""
        try:
            if work.attempts > MAX_ATTEMPTS:
                await self._later(work, "its processing ended the process each time")
            else:
                async with _running(self._process(work)) as (task,):
                    while not (await asyncio.wait({task}, timeout=BEAT_SECONDS))[0]:
                        if not await self.uploads.renew(work.upload_id, self.owner):
                            break
                    else:
                        await task
        except (refusals.TooLarge, refusals.Unsupported, refusals.Unreadable) as refusal:
            await self._fail(work, failure_of(refusal))
        except refusals.NotFound:
            await self._fail(
                work, Failure(refusals.Unreadable.reason, "the bytes of a file are gone; upload it again")
            )
        except refusals.Refusal as refusal:
            await self._later(work, refusal.message, refusal.reason)
        except Exception:
            logger.exception("processing upload %s failed, attempt %s", work.upload_id, work.attempts)
            await self._later(work, UNNAMED.message)
        self.ended()

    async def _later(self, work: Work, why: str, reason: str = "INTERNAL") -> None:
        if work.attempts >= MAX_ATTEMPTS:
            names = ", ".join(file.name for file in work.files) or f"upload {work.upload_id}"
            await self._fail(work, Failure(reason, f"{names}: given up after {work.attempts} tries: {why}"))
        else:
            await self.uploads.retry(work.upload_id, self.owner, 2.0**work.attempts)

    async def _fail(self, work: Work, failure: Failure) -> None:
        """In some way or other, else it would be taken up again for ever."""
        for reason in (failure, UNNAMED):
            try:
                unused = await self.uploads.fail(work, self.owner, reason)
                await self.retention.delete_unreferenced(unused)
                return
            except refusals.StorageAway:
                raise
            except Exception:
                logger.exception("the failure of upload %s could not be stored", work.upload_id)
        await self.uploads.remove(work.upload_id, UNNAMED)

    async def _process(self, work: Work) -> None:
        parsed = asyncio.Event()
        former: str | None = ""
        async with _running(self._parse_all(work, parsed)) as (parsing,):
            # The base may change over to another model meanwhile: then all is embedded once more.
            while (base_model := await self.staging.model_of(work.base_id)) != former:
                former, embedder = base_model, await self.embedder.of(base_model)
                # Embeds what is staged while reading goes on, and looks from the beginning once all is read. Ends at
                # once where a file cannot be read.
                staged = self._embed_staged(work, embedder, parsing, parsed)
                async with _running(self._prepare(work, embedder), staged) as (_, embedding):
                    await asyncio.wait({parsing, embedding}, return_when=asyncio.FIRST_COMPLETED)
                    if parsing.done():
                        parsing.result()
                    await embedding
                fingerprint = (await embedder.model()).fingerprint
                if await self.staging.publish(work, self.owner, fingerprint, base_model):
                    return

    async def _parse_all(self, work: Work, parsed: asyncio.Event) -> None:
        slots = asyncio.Semaphore(PARSING_AT_ONCE)

        async def parse(file: FileRecord) -> None:
            reading = _ReadProgress()
            async with (
                slots,
                _running(self._report_progress(work, file, reading)),
                self.blobs.local(file.blob_key) as path,
            ):
                await self._stage(work, file, path, reading, parsed)

        async with _running(*map(parse, work.files)) as tasks:
            for task in tasks:
                await task

    async def _stage(
        self, work: Work, file: FileRecord, path: Path, reading: _ReadProgress, parsed: asyncio.Event
    ) -> None:
        """Stores what is read as it comes; ends where the file is gone or another has taken the upload over."""
        start = count = 0
        warnings: list[str] = []
        await self.staging.begin(work, file.id)
        async with aclosing(self.parser.cut(path, file.name, reading.report)) as parts:
            async for part in parts:
                named = [
                    (f"{int(self.clock.now().timestamp() * 1000)}-{self.ids.request_id()}", piece)
                    for piece in part.pieces
                ]
                if not await self.staging.stage(work, file.id, start, part.text, named):
                    return
                start += len(part.text)
                count += len(named)
                warnings += part.warnings
                parsed.set()
        if not count:
            raise refusals.Unreadable(f"{file.name}: holds no text")
        kind = await self.parser.identify(path, file.name)
        await self.staging.finish(work, file.id, kind.mime_type, warnings)

    async def _report_progress(self, work: Work, file: FileRecord, reading: _ReadProgress) -> None:
        """Stores how far reading has come: not for files that are read in a moment."""
        reported = 0.0
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            if reading.share > reported:
                reported = reading.share
                await self.staging.reading(work, file.id, reported)

    async def _prepare(self, work: Work, embedder: Embedder) -> None:
        """Loads the model while the first file is read, and stores where it must be prepared before."""
        if await embedder.ensure_prepared():
            await embedder.prepare()
            return
        await self.uploads.preparing(work.upload_id, self.owner, under_way=True)
        await embedder.prepare()
        await self.uploads.preparing(work.upload_id, self.owner, under_way=False)

    async def _embed_staged(
        self, work: Work, embedder: Embedder, parsing: asyncio.Task[None], parsed: asyncio.Event
    ) -> None:
        after = 0
        while True:
            parsed.clear()
            finished = parsing.done()
            embedded = await self._embed_some(work, embedder, after)
            if embedded:
                after = embedded
            elif not finished:
                waiting = asyncio.create_task(parsed.wait())
                await asyncio.wait({parsing, waiting}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
            elif after:
                after = 0
            else:
                return

    async def _embed_some(self, work: Work, embedder: Embedder, after: int) -> int:
        """Embeds the next staged pieces; stores one slice while the next is being embedded. Gives the last one's
        number, 0 where none was left."""
        fingerprint = (await embedder.model()).fingerprint
        staged = await self.staging.unembedded(work.upload_id, fingerprint, LOOK_AHEAD, after)
        waiting = sorted(staged, key=lambda piece: len(piece.text))
        storing: asyncio.Task[None] | None = None
        try:
            for start in range(0, len(waiting), SLICE):
                pieces = waiting[start : start + SLICE]
                vectors = await embedder.embed_passages([piece.text for piece in pieces])
                if storing:
                    await storing
                pairs = list(zip(pieces, vectors, strict=True))
                storing = asyncio.create_task(self.staging.embedded(work.upload_id, fingerprint, pairs))
        finally:
            if storing:
                await storing
        return staged[-1].seq if staged else 0
