"""Which resource made an answer, how it was chosen, and what the answer stands on."""

from domain.values import value


@value
class Citation:
    """A passage of a knowledge base that a text relies on. `index` is its number in the text; `quote` a stretch of
    the chunk; `place` says where it stands, as in "page 3" or "slide 2"."""

    index: int
    chunk_id: str
    file_name: str
    page: int | None
    quote: str
    place: str = ""


@value
class FailedResource:
    """A resource that was asked and gave no answer."""

    resource: str
    reason: str


@value
class Usage:
    """Tokens that models took for an answer: what they read, and what they wrote."""

    input_tokens: int
    output_tokens: int

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


FALLBACK = "fallback"


@value
class Provenance:
    """`resource` made the answer; empty where none did. `route`: why it was asked, in words; empty for the instance's
    own resource. `failures`: those that were asked before it, in order."""

    resource: str
    route: str = ""
    failures: tuple[FailedResource, ...] = ()
    citations: tuple[Citation, ...] = ()

    @property
    def way(self) -> str:
        """The route, and that the resource was the fallback, in words."""
        is_fallback = self.resource and self.failures
        return ", ".join(filter(None, (self.route, FALLBACK if is_fallback else "")))
