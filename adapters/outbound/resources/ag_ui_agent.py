"""An agent behind an AG-UI endpoint, as a rule names it."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AgUiAgent:
    """`url` takes the runs. `images`: pictures of a message go along as content parts."""

    url: str
    images: bool = False
    token: str | None = field(default=None, repr=False)
