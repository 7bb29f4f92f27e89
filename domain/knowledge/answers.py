"""Answers from knowledge bases: their best passages with the names of their files, or the answer of a model."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import Level, needs
from domain.channels.model import Proof
from domain.knowledge.bases import BaseAccess
from domain.knowledge.citations import Passages, escaped
from domain.knowledge.marks import data_text
from domain.knowledge.model import Base, EarlierTurn, KnowledgeAnswer, SearchResult
from domain.knowledge.rules import SearchOptions
from domain.knowledge.search import SearchService
from domain.refusals import Fault, Forbidden, Invalid, NotFound, TooMany, Unavailable
from domain.routing.model import Resource, ResourceKind, RunRequest, RunResult, RunSender
from domain.usage.budget_service import BudgetGuard
from ports.resources import DownstreamFailed, KnowledgeModels, Role, Turn
from ports.system import Clock, Ids
from ports.usage import UsageStore

log = logging.getLogger(__name__)


NOT_SEARCHED = "(The documents were not searched for this answer.)"
"""Ends an answer of a model that could search, and did not."""


def nothing_found(bases: Iterable[Base]) -> str:
    names = ", ".join(base.name for base in bases)
    return f"Nothing found in the knowledge base {names}." if names else "Nothing found."


def is_empty(answer: str) -> bool:
    """True for an answer without a letter, digit or sign: white space and punctuation alone."""
    return not answer.strip(" \t\r\n.,;:!?*_#>-")


MOST_PASSAGES = 3
LEAST_SIMILARITY = 0.3
"""Below it a passage has little to do with the question."""
NEAR_THE_BEST = 0.7
"""Passages less similar than this share of the best one are left out."""
CHANNEL_ID = "ask"
"""What stands for a channel in a question; the instance is 0."""
MOST_OF_USER = 8
MOST_QUESTIONS = 64
"""Questions to models under way at a time in one process."""
PAUSE = 2.0
"""Seconds to wait where there are too many, or where a model failed."""
USED_UP_PAUSE = 3600.0
"""The same where a budget is used up."""
NO_ANSWER = "the model does not answer; try again"
"""What who asks is told of a failure; the reason may name the model's server, and stands in the log."""


@dataclass(eq=False)
class AnswersService:
    """Conforms to `ports.resources.KnowledgeReader`."""

    access: BaseAccess
    search: SearchService

    async def answer(self, owner: str, base_id: int, question: str) -> RunResult:
        try:
            base = await self.access.require(Caller(owner), base_id, Level.READ)
        except (NotFound, Forbidden):
            return RunResult(f"There is no knowledge base {base_id} here.")
        best = await self.best(base, question)
        if not best:
            return RunResult(nothing_found([base]))
        texts = (f"**{escaped(result.file_name)}**\n\n{data_text(result.text)}" for result in best)
        return RunResult("\n\n".join(texts))

    async def readable(self, user: str, base_ids: Sequence[int]) -> Sequence[Base]:
        return await self.access.readable(user, base_ids)

    async def passages(self, base: Base, query: str) -> Sequence[SearchResult]:
        return await self.search.find(base.id, query, SearchOptions(min_similarity=LEAST_SIMILARITY))

    async def best(self, base: Base, question: str) -> Sequence[SearchResult]:
        """The few passages that are shown where no model makes an answer of them."""
        results = await self.passages(base, question) if question.strip() else []
        least = max((NEAR_THE_BEST * result.similarity for result in results[:1]), default=0.0)
        return [result for result in results if result.similarity >= least][:MOST_PASSAGES]


@dataclass(eq=False)
class AskService:
    """Questions to a base."""

    access: BaseAccess
    answers: AnswersService
    models: KnowledgeModels
    ids: Ids
    clock: Clock
    usage: UsageStore
    budgets: BudgetGuard
    _users: Counter[str] = field(default_factory=Counter, init=False)

    @needs(Scope.KNOWLEDGE_READ)
    async def ask(
        self, caller: Caller, base_id: int, question: str, history: Sequence[EarlierTurn] = ()
    ) -> KnowledgeAnswer:
        """What the model of a rule answers from the base, else the best passages.

        Raises `NotFound`, `Forbidden`, `Invalid`, `TooMany` (also for a budget that is used up), `Unavailable` (the
        model gives no answer).
        """
        limits.check_filled("question", question, limits.QUESTION)
        if len(history) > limits.EARLIER_TURNS:
            raise Invalid.of([Fault("history", f"must have at most {limits.EARLIER_TURNS} turns")])
        for at, turn in enumerate(history):
            if turn.role not in (Role.USER, Role.ASSISTANT):
                raise Invalid.of([Fault(f"history[{at}].role", "must be user or assistant")])
            if fault := limits.text_fault(turn.content, limits.EARLIER_TURN):
                raise Invalid.of([Fault(f"history[{at}].content", fault)])
        base = await self.access.inside(caller, base_id)
        with self._place(caller.user_id):
            user = caller.user_id
            resource, request_id = Resource(ResourceKind.AGENT, f"kb-{base.id}", 0), self.ids.request_id()
            sender = RunSender(user, user, user, Proof.SERVICE)
            answer = await self._of_model(
                RunRequest(resource, request_id, 0, CHANNEL_ID, request_id, sender, question, user),
                base,
                history,
            )
        if answer is not None:
            return answer
        passages = Passages()
        shown = [passages.add(base.id, result) for result in await self.answers.best(base, question)]
        if not shown:
            return KnowledgeAnswer(nothing_found([base]), ())
        texts = (
            f"**{escaped(passage.file_name)}** [{passage.number}]\n\n{data_text(passage.text)}"
            for passage in shown
        )
        return KnowledgeAnswer("\n\n".join(texts), passages.citations(question))

    async def _of_model(
        self, request: RunRequest, base: Base, history: Sequence[EarlierTurn]
    ) -> KnowledgeAnswer | None:
        earlier = [Turn(Role(turn.role), turn.content) for turn in history]
        resource_id, user = request.resource.without_expert, request.owner
        if used_up := self.budgets.used_up(0, resource_id, user):
            raise TooMany(used_up.in_words, USED_UP_PAUSE)
        started, result, asked = self.clock.now(), None, True
        try:
            result = await self.models.answer(request, base, earlier)
            asked = result is not None
        except DownstreamFailed as failed:
            log.warning("request %s to the base %d got no answer: %s", request.request_id, base.id, failed)
            raise Unavailable(NO_ANSWER, failed.retry_after or PAUSE) from failed
        finally:
            if asked:
                seconds = (self.clock.now() - started).total_seconds()
                request.usage_meter.end_run(resource_id, user, result.usage if result else None, seconds)
                self.usage.keep(0, request.usage_meter.take())
        if result is None:
            return None
        text = result.text.encode(errors="replace").decode()
        return KnowledgeAnswer(text, result.citations, searched=not result.unsearched)

    @contextmanager
    def _place(self, user: str) -> Iterator[None]:
        """Raises `TooMany` where too many questions are under way."""
        if self._users[user] >= MOST_OF_USER or self._users.total() >= MOST_QUESTIONS:
            whose = "your" if self._users[user] >= MOST_OF_USER else "other users'"
            raise TooMany(f"too many of {whose} questions are under way; ask again when one has ended", PAUSE)
        self._users[user] += 1
        try:
            yield
        finally:
            self._users[user] -= 1
            self._users += Counter()  # without users at 0
