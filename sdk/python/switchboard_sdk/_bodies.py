"""Reads the body of a request, which anybody may have made."""

import json
from typing import Any, NoReturn

from switchboard_sdk.messages import BadMessage, Message, read_message

MAX_DEPTH = 64


def message_of(body: bytes) -> Message:
    """Raises `BadMessage`."""
    try:
        value = json.loads(body, parse_constant=_refuse)
    except RecursionError:
        raise BadMessage(f"the request is nested over {MAX_DEPTH} levels deep") from None
    except ValueError:
        raise BadMessage("the request is not JSON") from None
    _check_depth(value)
    return read_message(value)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            member
            for item in level
            if isinstance(item, dict | list)
            for member in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return
    raise BadMessage(f"the request is nested over {MAX_DEPTH} levels deep")
