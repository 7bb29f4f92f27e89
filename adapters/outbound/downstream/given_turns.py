"""A conversation that comes with a question."""

from collections.abc import Sequence

from ports.resources import Turn


class GivenTurns:
    """`ports.resources.ChatHistory`: the turns that came with a question. Nothing of the answer is kept."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns

    async def load(self, instance_id: int, session_id: str, request_id: str) -> Sequence[Turn]:
        return self._turns

    async def append(
        self,
        instance_id: int,
        session_id: str,
        request_id: str,
        turns: Sequence[Turn],
        inbox_id: int | None = None,
    ) -> None:
        return
