"""Why an upload failed, kept with it and told to whoever waits for it."""

from domain.refusals import Conflict, Refusal, TooLarge, Unavailable, Unreadable, Unsupported
from ports.knowledge_storage import Failure

_TOLD: dict[str, type[Refusal]] = {
    kind.reason: kind for kind in (Conflict, TooLarge, Unreadable, Unsupported, Unavailable)
}


class ProcessingFailed(Exception):
    """A fault of ours while a file was processed; the details are in the log."""


def cancelled(file_name: str) -> Failure:
    """Why an upload failed one of whose files was deleted before it could be found."""
    return Failure(Conflict.reason, f"{file_name} was deleted while it was being processed")


def failure_of(refusal: Refusal) -> Failure:
    return Failure(refusal.reason, refusal.message)


def refusal_of(failure: Failure) -> Exception:
    """The refusal as it was raised by the worker."""
    kind = _TOLD.get(failure.reason)
    return kind(failure.message) if kind else ProcessingFailed(failure.message)
