"""Answers a message from a knowledge base: its best passages, with the names of their files."""

from collections.abc import Sequence

from domain.access.model import Caller
from domain.knowledge.bases.service import BaseAccess
from domain.knowledge.model import Level, SearchResult
from domain.knowledge.search.service import SearchService
from domain.refusals import Forbidden, NotFound
from domain.routing.model import RunResult

MOST_PASSAGES = 3
LEAST_SIMILARITY = 0.3
"""Below it a passage has little to do with the question."""
NEAR_THE_BEST = 0.7
"""Passages less similar than this share of the best one are left out."""


class AnswersService:
    """Conforms to `ports.downstream.KnowledgeAnswers`."""

    def __init__(self, access: BaseAccess, search: SearchService) -> None:
        self._access = access
        self._search = search

    async def answer(self, owner: str, base_id: int, question: str) -> RunResult:
        try:
            base = await self._access.require(Caller(owner), base_id, Level.READ)
        except (NotFound, Forbidden):
            return RunResult(f"There is no knowledge base {base_id} here.")
        results = await self._search.find(base_id, question) if question.strip() else []
        best = _best(results)
        if not best:
            return RunResult(f"Nothing found in the knowledge base {base.name}.")
        return RunResult("\n\n".join(f"**{result.file_name}**\n\n{result.text}" for result in best))


def _best(results: Sequence[SearchResult]) -> Sequence[SearchResult]:
    least = max([LEAST_SIMILARITY, *(NEAR_THE_BEST * result.similarity for result in results[:1])])
    return [result for result in results if result.similarity >= least][:MOST_PASSAGES]
