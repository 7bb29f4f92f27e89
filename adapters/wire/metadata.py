"""The metadata of a call that says for whom a service or a gateway acts."""

from collections.abc import Mapping
from contextvars import ContextVar

ACTING_FOR = "x-user-id-bin"
"""The user's id in UTF-8: plain metadata is ASCII, ids need not be. `x-user-id` says the same of an id that is."""

_PLAIN = "x-user-id"

OF_SESSION = ("x-credential-kind", "session")
"""Says that the token of the call is that of a browser's session, which is no API key."""

CLIENT_ADDRESS = "x-client-address"
"""The address of the person for whom a gateway calls. It counts with the proof that a gateway calls."""

client_address: ContextVar[str] = ContextVar("client_address", default="")
"""The same in the gateway, while it handles a request."""


def acting_for(metadata: Mapping[str, str | bytes]) -> str | None:
    """The user that a service acts for, None where it names none. Bytes that are no UTF-8 stay apart, as lone
    surrogates, which no id may have."""
    given = metadata.get(ACTING_FOR) or metadata.get(_PLAIN) or None
    return given.decode("utf-8", "surrogateescape") if isinstance(given, bytes) else given
