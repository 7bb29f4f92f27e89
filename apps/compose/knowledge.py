"""Knowledge bases: their files, what reads and embeds them, and search."""

import asyncio
from pathlib import Path

from adapters.outbound.knowledge.embedding.installed import Computing, InstalledEmbedders
from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.embedding.onnx_embedder import has_fast_int8
from adapters.outbound.knowledge.memory import HttpMemory
from adapters.outbound.knowledge.models.catalogue import SCALES
from adapters.outbound.knowledge.models.downloads import SPEECH, ModelFolder
from adapters.outbound.knowledge.parsing.parser import ParsingOptions, SandboxedParser
from adapters.outbound.storage.knowledge.bases import PostgresBases, PostgresChosenModel
from adapters.outbound.storage.knowledge.files import PostgresFiles
from adapters.outbound.storage.knowledge.search import PostgresChunkIndex
from adapters.outbound.storage.knowledge.staging import PostgresStaging
from adapters.outbound.storage.knowledge.uploads import PostgresUploads
from adapters.outbound.storage.knowledge.vector_indexes import PostgresReindexing, VectorIndexes
from adapters.outbound.storage.knowledge.word_index import PostgresWordIndex
from apps.compose.storage import Files, Foundation, Storage
from apps.settings import Settings
from domain.knowledge.answers import AnswersService
from domain.knowledge.bases import BaseAccess, BasesService
from domain.knowledge.files import BaseFilesService, FilesService, UploadLimits, UploadService
from domain.knowledge.ingest import IngestService
from domain.knowledge.maintenance import MemoryService, ReindexService, Retention, Sweeper
from domain.knowledge.model import ReadPolicy
from domain.knowledge.search import SearchService


def model_folder(settings: Settings) -> ModelFolder:
    return ModelFolder(settings.data_dir / "models")


def whisper_folder(settings: Settings) -> str:
    """Of the speech model: the one that is set, else the one that was taken into use, if any."""
    folder = model_folder(settings)
    return settings.whisper_model_dir or (str(folder.path / SPEECH) if folder.speech() else "")


def build_model_files(settings: Settings) -> ModelFiles:
    folder = Path(settings.embedding_model_dir) if settings.embedding_model_dir else None
    return ModelFiles(folder, multilingual=settings.embedding_multilingual, scales=SCALES)


def build_embedder(settings: Settings, files: ModelFiles, storage: Storage) -> InstalledEmbedders:
    dtype = settings.embedding_dtype
    computing = Computing(
        "int8" if has_fast_int8() else "float32",
        None if dtype == "auto" else dtype,
        settings.embedding_threads,
        settings.embedding_prepared_dir,
    )
    files_of_folder = files if settings.embedding_model_dir else None
    chosen = PostgresChosenModel(storage.database)
    return InstalledEmbedders(model_folder(settings), files_of_folder, chosen, computing)


class Uploads:
    """The way of a file into a base: `service` takes it in, `ingest` makes chunks of it."""

    def __init__(
        self,
        foundation: Foundation,
        storage: Storage,
        files: Files,
        model: ModelFiles,
        embedder: InstalledEmbedders,
    ) -> None:
        settings, database, blobs = foundation.settings, storage.database, files.blobs
        options = ParsingOptions(
            slots=settings.parsing_slots,
            whisper_dir=whisper_folder(settings),
            model_dir=lambda: model.folder,
        )
        self.parser = parser = SandboxedParser(options)
        self.access = BaseAccess(
            PostgresBases(database),
            ReadPolicy(settings.kb_read_policy),
            ReadPolicy(settings.other_read_policy),
        )
        self.retention = retention = Retention(blobs, files.references)
        self.news = asyncio.Event()
        self.store = store = PostgresUploads(database)
        self.limits = UploadLimits(settings.max_upload_mb * 1024 * 1024, settings.max_files_per_upload)
        self.service = UploadService(
            self.access, blobs, files.references, store, parser, retention, self.news.set, self.limits
        )
        self.ingest = IngestService(
            store,
            PostgresStaging(database),
            blobs,
            parser,
            embedder,
            retention,
            foundation.clock,
            foundation.ids,
            foundation.worker_id,
            self.service.ended,
        )


class Knowledge:
    def __init__(
        self,
        foundation: Foundation,
        storage: Storage,
        files: Files,
        uploads: Uploads,
        embedder: InstalledEmbedders,
    ) -> None:
        settings, database = foundation.settings, storage.database
        self.access = access = uploads.access
        retention = uploads.retention
        self.sweeper = Sweeper(files.blobs, files.references, uploads.store, retention, foundation.clock)
        bases = PostgresBases(database)
        self.bases = BasesService(
            bases, access, retention, storage.audit, memory_sync=settings.kb_memory_sync
        )
        store = PostgresFiles(database)
        self.files = FilesService(access, store, files.blobs, uploads.service)
        self.base_files = BaseFilesService(
            access,
            store,
            retention,
            uploads.parser,
            uploads.news.set,
            uploads.limits,
            storage.audit,
        )
        self.vector_indexes = VectorIndexes(database)
        self.word_index = PostgresWordIndex(database)
        self.chunk_index = PostgresChunkIndex(database)
        self.search = SearchService(access, self.chunk_index, embedder, files.shared)
        self.answers = AnswersService(access, self.search)
        self.reindexing = PostgresReindexing(database)
        self.reindex = ReindexService(self.reindexing, embedder, foundation.worker_id)
        memory = HttpMemory(foundation.http, settings.memory_url, settings.internal_service_key)
        self.memory = MemoryService(bases, memory)
