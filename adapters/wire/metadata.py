"""The metadata of a call that says for whom a service acts."""

from collections.abc import Mapping

ACTING_FOR = "x-user-id-bin"
"""The user's id in UTF-8: plain metadata is ASCII, ids need not be. `x-user-id` says the same of an id that is."""

_PLAIN = "x-user-id"


def acting_for(metadata: Mapping[str, str | bytes]) -> str | None:
    """The user that a service acts for, None where it names none. Bytes that are no UTF-8 stay apart, as lone
    surrogates, which no id may have."""
    given = metadata.get(ACTING_FOR) or metadata.get(_PLAIN) or None
    return given.decode("utf-8", "surrogateescape") if isinstance(given, bytes) else given
