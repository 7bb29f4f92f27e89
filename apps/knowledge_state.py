"""What the doctor wants to know of the knowledge bases."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.outbound.knowledge.embedding.installed import InstalledEmbedders
from adapters.outbound.resources.rules import named_bases
from adapters.outbound.storage.pool import Database
from apps.containers.knowledge import Knowledge
from apps.downstream import rules_of
from apps.setting_types import SettingsError
from apps.settings import Settings


@dataclass(frozen=True, slots=True)
class KnowledgeState:
    """`orphans`: what is stored and belongs to nothing, by kind. `of_other_models`: the chunks of bases that are
    still to change over to `model`, of which so many are embedded anew. `missing_bases`: ids of bases that do not
    exist, each with the line of the rule that names it. `model_prepared`: the model need not be exported first."""

    orphans: Mapping[str, int]
    model: str
    embedded_anew: int
    of_other_models: int
    memory_tasks: int
    memory_error: str | None
    missing_bases: Sequence[tuple[int, int]]
    model_prepared: bool = True


async def state_of(
    settings: Settings, knowledge: Knowledge, embedder: InstalledEmbedders, database: Database
) -> KnowledgeState:
    """Counts; changes nothing."""
    chunks = knowledge.reindexing
    orphans = await chunks.orphans()
    orphans["files on disk that no record knows"] = await knowledge.sweeper.strays()
    model = await embedder.model()
    row = await database.fetch_one("SELECT count(*), max(last_error) FROM memory_task")
    done, others = await chunks.progress(model.fingerprint)
    tasks, error = row or (0, None)
    missing, prepared = await _missing_bases(settings, database), await embedder.is_prepared()
    return KnowledgeState(orphans, model.name, done, others, tasks, error, missing, prepared)


async def _missing_bases(settings: Settings, database: Database) -> Sequence[tuple[int, int]]:
    """None where the rules cannot be read, which is a finding of its own."""
    try:
        named = list(named_bases(await asyncio.to_thread(rules_of, settings)))
    except SettingsError:
        return ()
    ids = [base_id for base_id, _ in named]
    known = await database.fetch_column("SELECT id FROM knowledge_base WHERE id = ANY(%s::bigint[])", (ids,))
    return [(base_id, line) for base_id, line in named if base_id not in known]
