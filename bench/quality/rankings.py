"""The documents found for a query: by vector alone, by text alone, and by both as the service merges them."""

from __future__ import annotations

from apps.container import Container
from domain.knowledge.fusion import Hit, fuse
from domain.knowledge.search.options import SearchOptions
from domain.knowledge.text_match import Query, TextMatch, phrases_in
from domain.knowledge.words import mostly_outside_latin
from ports.knowledge_storage import Passage

DEEP = 100
"""Chunks that each search looks at, so that ten different documents come out."""


class Rankings:
    """Document names without their ending, best first. `the ten results` are what the API answers."""

    def __init__(self, container: Container, base_id: int) -> None:
        self._container = container
        self._base_id = base_id

    async def of(self, text: str) -> dict[str, list[str]]:
        index, embedder = self._container.knowledge().chunk_index, self._container.embedder()
        query = Query.of(text)
        model = await embedder.model()
        fingerprint, text_alone = model.fingerprint, model.latin_only and mostly_outside_latin(text)
        vector = await embedder.embed_query(text)
        statistics = await index.statistics(self._base_id, query)
        match = TextMatch(query, statistics, alone=text_alone)
        candidates = await index.matches(self._base_id, match, statistics)
        nearest = await index.nearest(self._base_id, vector, fingerprint, SearchOptions(top_k=DEEP))
        keys = list({*(each.key for each in candidates), *(key for key, _ in nearest)})
        passages = await index.passages(self._base_id, keys, match.vocabulary, vector, fingerprint)
        scores = {each.key: (_score(query, match, each), each.cosine) for each in passages}
        names = {each.key: each.file_name.removesuffix(".txt") for each in passages}
        hits = [Hit(key, score, 0.0 if text_alone else cosine) for key, (score, cosine) in scores.items()]
        results = await self._container.knowledge().search.find(self._base_id, text)
        return {
            "vector alone": _documents(names, {key: cosine for key, (_, cosine) in scores.items()}),
            "text alone": _documents(names, {key: score for key, (score, _) in scores.items() if score > 0}),
            "hybrid": list(dict.fromkeys(names[hit.key] for hit in fuse(hits) if hit.similarity > 0)),
            "hybrid, the ten results": list(
                dict.fromkeys(each.file_name.removesuffix(".txt") for each in results)
            ),
        }


def _score(query: Query, match: TextMatch, passage: Passage) -> float:
    return match.score(passage.held, phrases_in(query, passage.held, f"{passage.context}\n{passage.text}"))


def _documents(names: dict[str, str], scores: dict[str, float]) -> list[str]:
    ranked = sorted(scores, key=lambda key: (-scores[key], key))
    return list(dict.fromkeys(names[key] for key in ranked))
