"""What the failure of a reader means for its file."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType

from adapters.outbound.parsing.reading import Job
from domain.refusals import FULL, Refusal, StorageFull, TooLarge, Unreadable, Unsupported, is_full_disk

_LIBXML_NO_MEMORY = 2  # xmlParserErrors.XML_ERR_NO_MEMORY, in the code of lxml's errors


def meaning(error: Exception, name: str, kind: str) -> Refusal:
    """A refusal as it is, anything else as the refusal of the file; `kind` is the label of its format. What a library
    says of the damage is for the log alone."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, MemoryError) or getattr(error, "code", None) == _LIBXML_NO_MEMORY:
        return TooLarge(f"{name} is too large: reading it needs more memory than a file may take")
    if is_full_disk(error):
        return StorageFull(FULL)
    if isinstance(error, RecursionError):
        return Unreadable(f"{name} cannot be read as {kind}: it is nested too deeply")
    if isinstance(error, ImportError):
        return Unsupported(
            f"{name} cannot be read here: {kind} needs the Python package {error.name or error}; "
            "install it, then upload the file again"
        )
    return Unreadable(
        f"{name} cannot be read as {kind}: the content is damaged; open it in the program that made it, "
        "save it again, and upload it again"
    )


@contextmanager
def contained(job: Job, part: str) -> Iterator[None]:
    """Turns the failure of a part into a warning, which begins with `part`. What is over a limit fails the file."""
    try:
        yield
    except Exception as error:
        refusal = meaning(error, part, "a part")
        if not isinstance(refusal, Unreadable):
            raise
        job.warn(f"{part} is damaged and was not read")


class Contained(AbstractContextManager["Contained"]):
    """Keeps the failure of a part from being that of its file: `refusal` says what it was.

    Running out of memory or disk is no matter of a part alone.
    """

    def __init__(self, name: str, kind: str) -> None:
        self._name = name
        self._kind = kind
        self.refusal: Refusal | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, MemoryError) or is_full_disk(error):
            return False
        self.refusal = meaning(error, self._name, self._kind)
        return True
