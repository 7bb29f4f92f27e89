"""Agents behind AG-UI endpoints, as rules name them."""

from dataclasses import dataclass, field

from adapters.outbound.resources.targets import Keys, Target


@dataclass(frozen=True, slots=True)
class AgUiAgent(Target):
    """`url` takes the runs. `images`: pictures of a message go along as content parts."""

    url: str
    images: bool = False
    token: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, keys: Keys) -> "AgUiAgent":
        return cls(keys.url("url"), keys.flag("images", default=False), keys.token())
