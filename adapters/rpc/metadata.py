"""The metadata of a call that says for whom a service or a gateway acts."""

import re
from collections.abc import Iterable
from contextvars import ContextVar

from domain.refusals import Fault, Invalid

ACTING_FOR = "x-user-id-bin"
"""The user's id in UTF-8: plain metadata is ASCII, ids need not be. `x-user-id` says the same of an id that is."""

_PLAIN = "x-user-id"

OF_SESSION = ("x-credential-kind", "session")
"""Says that the token of the call is that of a browser's session, which is no API key."""

CLIENT_ADDRESS = "x-client-address"
"""The address of the person for whom a gateway calls. It counts with the proof that a gateway calls."""

GATEWAY_KEY = "x-gateway-key"
"""The service key, as the proof that a gateway calls, in calls that carry the credential of a person."""
REQUEST_ID = "x-request-id"
"""The id of the request that a gateway handles."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")

client_address: ContextVar[str] = ContextVar("client_address", default="")
request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Both in the gateway, while it handles a request."""


def is_request_id(text: str) -> bool:
    """Return True for an id of a request that a caller may choose."""
    return _REQUEST_ID.fullmatch(text) is not None


def acting_for(metadata: Iterable[tuple[str, str | bytes]]) -> str | None:
    """The user that a service acts for, None if it names none. Bytes that are no UTF-8 stay apart, as lone
    surrogates, which no id may have. Raises `Invalid` for several: a client's would stand beside that of a proxy."""
    values = [value for key, value in metadata if key in (ACTING_FOR, _PLAIN) and value]
    names = {
        value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value for value in values
    }
    if len(names) > 1:
        raise Invalid.of(
            [Fault("x-user-id", "names several users: have the proxy replace what clients send")]
        )
    return next(iter(names), None)
