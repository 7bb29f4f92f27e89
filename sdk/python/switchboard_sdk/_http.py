"""What both clients do alike: which calls are tried again and when, and how answers are read."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import quote

import httpx

from switchboard_sdk.answers import Choice, File
from switchboard_sdk.errors import ApiError

UploadFile = tuple[str, bytes | BinaryIO]
"""The name and the content of a file."""

MAX_WAIT = 60.0
"""Seconds: a call that may be tried again later than that fails at once."""
STREAM_TIMEOUT = httpx.Timeout(10, read=45)
"""There is a sign of life every 15 seconds."""
BUSY = 429
"""The status with which a call was refused before anything was done."""
BROKEN = (502, 503, 504)
"""Statuses of gateways that do not tell whether anything was done: 503 also where the core did not answer in time."""
UNSENDABLE = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)
"""Errors of an address or key that no server can be called with."""


def headers_of(api_key: str, user_id: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {api_key}"} | ({"x-user-id": user_id} if user_id else {})


def path_of(*parts: str | int) -> str:
    """The address of a resource; each part is quoted."""
    return "/api/agent/" + "/".join(quote(str(part), safe="") for part in parts)


def query_of(params: Mapping[str, Any]) -> dict[str, str | int | float]:
    """The parameters that are given; lists are separated by commas."""
    return {name: _parameter(value) for name, value in params.items() if value is not None and value != []}


def _parameter(value: Any) -> str | int | float:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value


def body_of(members: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object of the members that are given."""
    return {name: value for name, value in members.items() if value is not None}


def files_json(files: Sequence[File]) -> list[dict[str, Any]] | None:
    return [file.as_json() for file in files] or None


def choices_json(choices: Sequence[Choice]) -> list[dict[str, str]] | None:
    return [{"label": choice.label, "value": choice.value or choice.label} for choice in choices] or None


def back_off(attempt: int) -> float:
    """Seconds before the next try. `attempt` counts from 0."""
    return min(30.0, 0.5 * 2.0 ** min(attempt, 10)) * random.uniform(0.5, 1)  # noqa: S311 - spreads callers


@dataclass(slots=True)
class Tries:
    """The tries of a call: when the next one comes, and if there is one. `repeatable`: the call may be made once more
    although it may have been carried out."""

    retries: float
    repeatable: bool
    made: int = 0

    @classmethod
    def of(cls, retries: int, method: str, headers: Mapping[str, str]) -> "Tries":
        is_safe = method in ("GET", "HEAD", "PUT", "DELETE")
        return cls(retries, is_safe or "Idempotency-Key" in headers)

    def after_answer(self, response: httpx.Response) -> float | None:
        """Seconds after which the call is made once more; None if it is not."""
        if response.status_code == BUSY or (self.repeatable and response.status_code in BROKEN):
            seconds = self.next()
            if (asked := retry_after(response)) is not None:
                seconds = asked
            return seconds if self.made <= self.retries and seconds <= MAX_WAIT else None
        return None

    def after_error(self, error: httpx.TransportError) -> float | None:
        """As `after_answer`. What was not connected was not carried out."""
        if isinstance(error, UNSENDABLE):
            return None
        never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
        seconds = self.next()
        return seconds if self.made <= self.retries and (self.repeatable or never_sent) else None

    def next(self) -> float:
        """Seconds before the next try, however many there were."""
        self.made += 1
        return back_off(self.made - 1)


def retry_after(response: httpx.Response) -> float | None:
    seconds = response.headers.get("retry-after", "")
    return float(seconds) if seconds.isdecimal() and len(seconds) < 10 else None


def value_of(response: httpx.Response) -> Any:
    """The JSON of an answer, None for one without a body. Raises `ApiError`."""
    if not response.is_success:
        raise error_of(response)
    try:
        return response.json() if response.content else None
    except ValueError:
        kind = response.headers.get("content-type", "of no type")
        raise ApiError(response.status_code, f"the answer is {kind} instead of JSON; use download") from None


def content_of(response: httpx.Response) -> bytes:
    """The bytes of an answer. Raises `ApiError`."""
    if not response.is_success:
        raise error_of(response)
    return response.content


def error_of(response: httpx.Response) -> ApiError:
    """The error in an answer whose body was read."""
    try:
        message = response.json()["error"]
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
        message = None
    text = message if isinstance(message, str) else f"{response.reason_phrase}: {response.text[:200]}"
    return ApiError(response.status_code, text, retry_after(response))
