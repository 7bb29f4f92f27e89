"""Where a dataclass and its message use different names or words."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from domain.channels.model import ChannelDefinition
from domain.conversations.model import Direction, Handler
from domain.instances.model import (
    ConfigDraft,
    Instance,
    InstanceChange,
    NewInstance,
    Pairing,
)
from domain.knowledge.model import (
    Base,
    Chunk,
    FileRecord,
    FileState,
    Permission,
    SearchResult,
    TextWindow,
    UploadedFile,
)
from domain.knowledge.ranking import ExplainedHit
from domain.knowledge.rules import Mode, mode_of
from domain.knowledge.sources.model import Source, SourcePage
from domain.monitoring.model import Period, parse_direction, parse_period
from domain.refusals import Fault, Invalid
from domain.verification.model import BotLink

_RESOURCE = {"downstream_resource_id": "resource_id"}
_HASH = {"file_id": "file_hash"}

RENAMED: Mapping[type, Mapping[str, str]] = {
    Base: {"permission_level": "level"},
    BotLink: {"deep_link": "address"},
    ChannelDefinition: {"setup_instructions": "setup"},
    Chunk: {"chunk_id": "id", "chunk": "text", **_HASH},
    ConfigDraft: _RESOURCE,
    ExplainedHit: {"chunk": "text", **_HASH},
    FileRecord: {
        "knowledge_base_id": "base_id",
        "file_name": "name",
        "file_path": "blob_key",
        "file_hash": "hash",
    },
    FileState: {"knowledge_base_id": "base_id", "file_id": "hash", "file_name": "name"},
    Instance: _RESOURCE,
    InstanceChange: _RESOURCE,
    NewInstance: _RESOURCE,
    Pairing: {"pairing_code": "code"},
    Permission: {"permission_level": "level"},
    SearchResult: {"chunk": "text", **_HASH},
    Source: {"knowledge_base_id": "base_id"},
    SourcePage: _HASH,
    TextWindow: _HASH,
    UploadedFile: {"file_id": "hash", "file_name": "name", "file_size": "size"},
}
"""Attributes of dataclasses by the fields of their messages."""


def _handler(word: str) -> Handler:
    if word not in tuple(Handler):
        raise Invalid.of([Fault("handler", "must be 'person' or 'resource'")])
    return Handler(word)


PARSED: Mapping[type[Enum], Callable[[Any], Any]] = {
    Direction: parse_direction,
    Handler: _handler,
    Mode: mode_of,
    Period: parse_period,
}
"""Enumerations whose unknown words have an error of their own."""
