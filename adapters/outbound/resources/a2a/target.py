"""Agents that speak A2A, as rules name them, and the cards of them that were read."""

from dataclasses import dataclass, field
from typing import Any

from adapters.outbound.resources.targets import Keys, Target


@dataclass(frozen=True, slots=True)
class A2aTarget(Target):
    """An agent that speaks A2A. `url` is its base address, or that of its agent card. `stream`: None does as the card
    says."""

    url: str
    stream: bool | None = None
    token: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, keys: Keys) -> "A2aTarget":
        stream = keys.value("stream", bool, "true or false")
        return cls(keys.url("url"), stream, keys.token())


CARD_SECONDS = 300.0
"""How long a card is used before it is read again; it is read again at once after a failure."""
MOST_CARDS = 1_000

Key = tuple[str, str | None]
"""Address and token: a card may be another one for each token."""


@dataclass(slots=True)
class CardCache:
    """The cards that this process read, with the time of the event loop until which each is good."""

    _cards: dict[Key, tuple[float, Any]] = field(default_factory=dict)

    def find(self, key: Key, now: float) -> Any | None:
        until, card = self._cards.get(key, (0.0, None))
        return card if now < until else None

    def keep(self, key: Key, card: Any, now: float) -> None:
        if len(self._cards) >= MOST_CARDS:
            self._cards.clear()
        self._cards[key] = now + CARD_SECONDS, card

    def forget(self, key: Key) -> None:
        self._cards.pop(key, None)
