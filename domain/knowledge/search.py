"""Searches one base in two ways at once."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import needs
from domain.files import StoredFiles
from domain.knowledge.bases import BaseAccess
from domain.knowledge.codes import Phrase
from domain.knowledge.index_words import highlights
from domain.knowledge.model import SearchResult
from domain.knowledge.ranking import (
    Explanation,
    Hit,
    Score,
    explained,
    fuse,
    leaders,
    of_each_file,
    query_words,
    telling_words,
)
from domain.knowledge.rules import DEFAULT, Mode, SearchOptions, check_options
from domain.knowledge.text_match import Query, Statistics, TextMatch
from domain.knowledge.words import mostly_outside_latin, words_as_written
from domain.rendering import off_loop
from ports.indexing import Embedder, Embedders, EmbeddingModel, Vector
from ports.knowledge_storage import ChunkIndex, Passage


@dataclass(frozen=True, slots=True)
class _Searched:
    """What the searches found, before it is brought into one order. `model`: whose vectors were
    compared, None if none were."""

    options: SearchOptions
    text: str
    query: Query
    statistics: Statistics
    match: TextMatch
    nearest: Sequence[tuple[str, float]]
    passages: Sequence[Passage]
    model: EmbeddingModel | None

    def similarity(self, passage: Passage) -> float:
        if self.model is None:
            return 0.0
        return self.model.similarity(passage.cosine, self.statistics.languages)

    @property
    def size(self) -> int:
        """Characters of the query and of the passages that are compared with it."""
        return len(self.text) + sum(len(passage.text) for passage in self.passages)


Nearest = tuple[Vector | None, Sequence[tuple[str, float]]]


@dataclass(eq=False)
class SearchService:
    """Search in a base. Each method raises `NotFound`, `Forbidden`, `Invalid`."""

    access: BaseAccess
    index: ChunkIndex
    embedder: Embedders
    links: StoredFiles

    @needs(Scope.KNOWLEDGE_READ)
    async def search(
        self, caller: Caller, base_id: int, query: str, options: SearchOptions = DEFAULT
    ) -> Sequence[SearchResult]:
        """At most `top_k` chunks, the most relevant first. None where vectors alone are asked for and the model does
        not know the query's script."""
        await self._check(caller, base_id, query, options, documented=True)
        return await self.find(base_id, query, options)

    @needs(Scope.KNOWLEDGE_READ)
    async def explain(
        self, caller: Caller, base_id: int, query: str, options: SearchOptions = DEFAULT
    ) -> Explanation:
        """The same chunks with what each of the two searches says of them, and what only one of them found."""
        await self._check(caller, base_id, query, options, documented=False)
        searched = await self._searched(base_id, query, options)
        return await off_loop(searched.size, _explanation, searched, options.top_k)

    async def _check(
        self, caller: Caller, base_id: int, query: str, options: SearchOptions, *, documented: bool
    ) -> None:
        limits.check_filled("query", query, limits.QUERY)
        check_options(options)
        await self.access.inside(caller, base_id, documented=documented)

    async def find(
        self, base_id: int, query: str, options: SearchOptions = DEFAULT
    ) -> Sequence[SearchResult]:
        searched = await self._searched(base_id, query, options)
        return await off_loop(searched.size, self._results, searched, options)

    def _results(self, searched: _Searched, options: SearchOptions) -> Sequence[SearchResult]:
        shown = {passage.key: passage for passage in searched.passages}
        highlighted = telling_words(searched.match, searched.statistics) if options.highlight else frozenset()
        results = []
        for hit in _best(searched, _scored(searched)):
            passage = shown[hit.key]
            result = SearchResult(
                chunk_id=passage.chunk_id,
                text=passage.text,
                file_hash=passage.file_hash,
                metadata=passage.metadata,
                similarity=hit.similarity,
                file_name=passage.file_name,
                text_score=_found(hit.text),
                vector_score=_found(hit.cosine),
                highlights=highlights(passage.text, highlighted) if highlighted else (),
                url=self.links.address(passage.file),
                source_url=passage.source_url,
            )
            results.append(result)
        return results

    async def _searched(self, base_id: int, query: str, options: SearchOptions) -> _Searched:
        """By the vectors that the base has; once more where another model's have just taken their place.

        While the model is being prepared words alone are compared, unless no chunk has any of them.
        """
        model = await self.index.model_of(base_id)
        searched = await self._searched_by(await self.embedder.of(model), base_id, query, options)
        if searched.nearest or (now := await self.index.model_of(base_id)) == model:
            return searched
        return await self._searched_by(await self.embedder.of(now), base_id, query, options)

    async def _searched_by(
        self, embedder: Embedder, base_id: int, query: str, options: SearchOptions
    ) -> _Searched:
        parsed = Query.of(query)
        model = await embedder.model()
        unknown_script = model.latin_only and mostly_outside_latin(query)
        compares = options.mode is not Mode.TEXT and not unknown_script
        waits = compares and not await embedder.ensure_prepared()
        (vector, nearest), (statistics, match, leading) = await asyncio.gather(
            self._by_vector(embedder, base_id, query, options, skip=waits or not compares),
            self._by_text(base_id, parsed, options, None if unknown_script or waits else model),
        )
        if waits and statistics.chunks and not leading:
            vector, nearest = await self._by_vector(embedder, base_id, query, options, skip=False)
        keys = dict.fromkeys([*leading, *dict(nearest)])
        passages = await self.index.passages(base_id, list(keys), match.vocabulary, vector, model.fingerprint)
        compared = None if vector is None else model
        return _Searched(options, query, parsed, statistics, match, nearest, passages, compared)

    async def _by_text(
        self, base_id: int, query: Query, options: SearchOptions, beside: EmbeddingModel | None
    ) -> tuple[Statistics, TextMatch, list[str]]:
        """Returns the best candidates: those with a certain score, and those that may be the best. It is certain
        that the words of an identifier stand in a chunk as one piece if it is indexed as one; the others need a
        look at the text. `beside`: the chunks whose vectors are compared."""
        statistics = await self.index.statistics(base_id, query)
        match = TextMatch(query, statistics, alone=beside is None or not beside.knows(statistics.languages))
        leading: list[str] = []
        if options.mode is Mode.VECTOR:
            return statistics, match, leading
        candidates = await self.index.matches(base_id, match, statistics, options)
        for evidence_of in (match.indexed, match.possible):
            scores = {
                held: match.score(held, evidence_of(held))
                for held in {candidate.held for candidate in candidates}
            }
            ranked = [
                Score(candidate.key, scores[candidate.held], candidate.file_id) for candidate in candidates
            ]
            leading += leaders(ranked, options.top_k, options.of_one_file)
            if not match.has_phrases:
                break
        return statistics, match, leading

    async def _by_vector(
        self, embedder: Embedder, base_id: int, query: str, options: SearchOptions, *, skip: bool
    ) -> Nearest:
        if skip:
            return None, []
        vector, model = await embedder.embed_query(query), await embedder.model()
        return vector, await self.index.nearest(base_id, vector, model.fingerprint, options)


def _explanation(searched: _Searched, limit: int) -> Explanation:
    hits = _scored(searched)
    shown = {passage.key: passage for passage in searched.passages}
    nearest = [key for key, _ in searched.nearest]
    highlighted = telling_words(searched.match, searched.statistics)
    by_meaning = searched.model is not None
    hits_explained = explained(
        _best(searched, hits), hits, nearest, shown, highlighted, limit, by_meaning=by_meaning
    )
    return Explanation(query_words(searched.query.words, searched.statistics), hits_explained, by_meaning)


def _scored(searched: _Searched) -> list[Hit]:
    """Both scores of every passage, now with its text at hand."""
    if searched.options.mode is Mode.VECTOR:
        return [Hit(passage.key, 0.0, searched.similarity(passage)) for passage in searched.passages]
    match = searched.match
    evidence = {
        passage.key: match.evidence(passage.held, passage.context, passage.text)
        for passage in searched.passages
    }
    seen: Counter[Phrase] = Counter()
    for matched in evidence.values():
        seen.update(matched.phrases)
    written = words_as_written(searched.text)
    return [
        Hit(
            passage.key,
            match.score(passage.held, evidence[passage.key], seen),
            searched.similarity(passage),
            len(written & words_as_written(passage.text)),
        )
        for passage in searched.passages
    ]


def _best(searched: _Searched, hits: Sequence[Hit]) -> list[Hit]:
    """The best, in order, as many as are wanted in all and of each file."""
    options = searched.options
    files = {passage.key: passage.file_hash for passage in searched.passages}
    similar = [hit for hit in fuse(hits) if hit.similarity > 0 and hit.similarity >= options.min_similarity]
    return list(of_each_file(similar, options.of_one_file, lambda hit: files[hit.key]))[: options.top_k]


def _found(score: float) -> float | None:
    """The score, or None if this search did not return the chunk."""
    return round(min(1.0, score), 3) if score > 0 else None
