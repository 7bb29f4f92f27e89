"""The bodies of questions to knowledge bases."""

from typing import Literal

from pydantic import Field

from adapters.inbound.rest.bodies import Answer, StrictBody, Text
from domain import limits
from domain.knowledge.model import EarlierTurn


class AskTurn(StrictBody):
    role: Literal["user", "assistant"]
    content: Text = Field(max_length=limits.EARLIER_TURN)

    def turn(self) -> EarlierTurn:
        return EarlierTurn(self.role, self.content)


class AskRequest(StrictBody):
    question: Text = Field(max_length=limits.QUESTION)
    history: list[AskTurn] = Field(
        default_factory=list,
        max_length=limits.EARLIER_TURNS,
        description="What was said before, the oldest first.",
    )


class Citation(Answer):
    index: int = Field(description="The number in the answer: 1 for [1].")
    chunkId: str
    fileName: str
    page: int | None
    quote: str = Field(description="A stretch of the chunk, word for word.")


class AskAnswer(Answer):
    answer: str = Field(description="Markdown with marks such as [1].")
    citations: list[Citation]
    searched: bool = Field(
        description="False where a model answered without a search: nothing in the base bears the answer out."
    )
