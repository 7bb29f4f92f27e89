"""Searches one base in two ways at once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from domain import limits
from domain.access.model import Caller
from domain.knowledge.bases.service import BaseAccess
from domain.knowledge.fusion import MAX_RESULTS, Hit, fuse, leaders
from domain.knowledge.model import SearchResult
from domain.knowledge.rules import check_filled
from domain.knowledge.search.explanation import Explanation, explained, query_words, telling_words
from domain.knowledge.text_match import (
    Phrase,
    Query,
    Statistics,
    TextMatch,
    phrases_in,
    possible_phrases,
    whole_phrases,
)
from domain.knowledge.words import mostly_outside_latin
from ports.embedding import Embedder, Vector
from ports.knowledge_storage import ChunkIndex, Passage

MOST_EQUALS = 30
"""How many chunks of equal text score are looked at more closely."""


@dataclass(frozen=True, slots=True)
class _Searched:
    """What both searches found for a query, before it is brought into one order."""

    query: Query
    statistics: Statistics
    match: TextMatch
    nearest: Sequence[tuple[str, float]]
    passages: Sequence[Passage]
    by_meaning: bool


Nearest = tuple[Vector | None, Sequence[tuple[str, float]]]


class SearchService:
    """The use case of searching. Conforms to `KnowledgeSearch`."""

    def __init__(self, access: BaseAccess, index: ChunkIndex, embedder: Embedder) -> None:
        self._access = access
        self._index = index
        self._embedder = embedder

    async def search(self, caller: Caller, base_id: int, query: str) -> Sequence[SearchResult]:
        check_filled("query", query, limits.QUERY)
        await self._access.inside(caller, base_id)
        return await self.find(base_id, query)

    async def explain(self, caller: Caller, base_id: int, query: str) -> Explanation:
        check_filled("query", query, limits.QUERY)
        await self._access.inside(caller, base_id)
        searched = await self._searched(base_id, query)
        hits = _scored(searched)
        shown = {passage.key: passage for passage in searched.passages}
        nearest = [key for key, _ in searched.nearest]
        wanted, by_meaning = telling_words(searched.match, searched.statistics), searched.by_meaning
        found = explained(_best(hits), hits, nearest, shown, wanted, by_meaning=by_meaning)
        return Explanation(query_words(searched.query.words, searched.statistics), found, by_meaning)

    async def find(self, base_id: int, query: str) -> Sequence[SearchResult]:
        searched = await self._searched(base_id, query)
        shown = {passage.key: passage for passage in searched.passages}
        return [_result(shown[hit.key], hit) for hit in _best(_scored(searched))]

    async def _searched(self, base_id: int, query: str) -> _Searched:
        parsed = Query.of(query)
        model = await self._embedder.model()
        text_alone = model.latin_only and mostly_outside_latin(query)
        (vector, nearest), (statistics, match, leading) = await asyncio.gather(
            self._by_vector(base_id, query, model.fingerprint, skip=text_alone),
            self._by_text(base_id, parsed, alone=text_alone),
        )
        keys = dict.fromkeys([*leading, *(key for key, _ in nearest)])
        passages = await self._index.passages(
            base_id, list(keys), match.vocabulary, vector, model.fingerprint
        )
        return _Searched(parsed, statistics, match, nearest, passages, vector is not None)

    async def _by_text(
        self, base_id: int, query: Query, *, alone: bool
    ) -> tuple[Statistics, TextMatch, list[str]]:
        """The best candidates: those for which all is certain, and those that may be the best.

        Whether words of an identifier stand in a chunk as one piece is certain where it is indexed as one;
        of the others only their text tells.
        """
        statistics = await self._index.statistics(base_id, query)
        match = TextMatch(query, statistics, alone=alone)
        candidates = await self._index.matches(base_id, match, statistics)
        leading: list[str] = []
        for phrases_of in (whole_phrases, possible_phrases):
            scores = {
                held: match.score(held, phrases_of(query, held))
                for held in {candidate.held for candidate in candidates}
            }
            ranked = ((candidate.key, scores[candidate.held]) for candidate in candidates)
            leading += leaders(ranked, MAX_RESULTS, MOST_EQUALS)
            if not any(len(phrase) > 1 for phrase in query.phrases):
                break
        return statistics, match, leading

    async def _by_vector(self, base_id: int, query: str, fingerprint: str, *, skip: bool) -> Nearest:
        if skip:
            return None, []
        vector = await self._embedder.embed_query(query)
        return vector, await self._index.nearest(base_id, vector, fingerprint, MAX_RESULTS)


def _scored(searched: _Searched) -> list[Hit]:
    """Both scores of every passage, now with its text at hand."""
    standing = {
        passage.key: phrases_in(searched.query, passage.held, f"{passage.context}\n{passage.text}")
        for passage in searched.passages
    }
    frequency: dict[Phrase, int] = {}
    for phrases in standing.values():
        for phrase in phrases:
            frequency[phrase] = frequency.get(phrase, 0) + 1
    score = searched.match.score
    return [
        Hit(passage.key, score(passage.held, standing[passage.key], frequency), passage.cosine)
        for passage in searched.passages
    ]


def _best(hits: Sequence[Hit]) -> list[Hit]:
    """The best ten, in order."""
    return [hit for hit in fuse(hits) if hit.similarity > 0]


def _result(passage: Passage, hit: Hit) -> SearchResult:
    return SearchResult(
        chunk_id=passage.chunk_id,
        text=passage.text,
        file_hash=passage.file_hash,
        metadata=passage.metadata,
        similarity=hit.similarity,
        file_name=passage.file_name,
    )
