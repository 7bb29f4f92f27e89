"""Errors of calls to Switchboard."""

import re

_FIELD = re.compile(r"([A-Za-z_][\w.\[\]-]*): ")


class ApiError(Exception):
    """Switchboard refused a call.

    `status` is the HTTP status, `message` what is wrong and how to mend it, `field` the field that is at fault, where
    the message begins with one; `retry_after`: seconds after which the call may work.
    """

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        named = _FIELD.match(message)
        self.field = named[1] if named else None
        self.retry_after = retry_after


class ConnectionFailed(Exception):
    """Switchboard could not be reached, or the connection broke before its answer was complete."""
