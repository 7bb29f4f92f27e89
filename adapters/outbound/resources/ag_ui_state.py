"""The shared state of an AG-UI conversation: snapshots, and JSON Patches (RFC 6902) of them."""

import logging
from collections.abc import Sequence
from typing import Any

import orjson
from jsonpatch import JsonPatch, JsonPatchException
from jsonpointer import JsonPointerException

from domain.json_text import loads

MAX_STATE = 20_000
"""Bytes of a state as JSON that is kept for the next message."""
MAX_OPERATIONS = 10_000
"""Operations of all patches of a run."""
_MAX_COPIED = 1_000_000
"""Bytes of a state after an operation `copy`, as each may double it."""

log = logging.getLogger(__name__)


class SharedState:
    """A patch that cannot be applied makes the state unusable until the next snapshot: without one, the state from
    before the run stays."""

    def __init__(self, before: Any) -> None:
        self._before = before
        self._state = loads(orjson.dumps(before))
        self._is_usable = True
        self._operations = 0

    def replace(self, snapshot: Any) -> None:
        self._state, self._is_usable = snapshot, True

    def patch(self, operations: Sequence[Any]) -> None:
        if not self._is_usable:
            return
        self._operations += len(operations)
        try:
            if self._operations > MAX_OPERATIONS:
                raise ValueError(f"the patches of a run have over {MAX_OPERATIONS} operations")
            for operation in operations:
                self._state = JsonPatch([operation]).apply(self._state, in_place=True)
                if operation.get("op") == "copy" and len(orjson.dumps(self._state)) > _MAX_COPIED:
                    raise ValueError(f"the state has over {_MAX_COPIED} bytes")
        except (JsonPatchException, JsonPointerException, ValueError, TypeError) as error:
            log.warning("a patch of an AG-UI state cannot be applied: %s", str(error)[:200])
            self._is_usable = False

    def kept(self) -> Any:
        """The state for the next message."""
        if not self._is_usable:
            return self._before
        try:
            text = orjson.dumps(self._state)
            state = loads(text)
        except (ValueError, TypeError):
            state, text = None, b""
        if state is None or len(text) > MAX_STATE:
            if self._state is not None:
                log.warning(
                    "a state of AG-UI is too large or too deep to be kept", extra={"bytes": len(text)}
                )
            return {}
        return state
