"""Reads downstream resource ids. Pure."""

import re
from functools import lru_cache

from domain import limits
from domain.refusals import Fault, Invalid
from domain.routing.model import Resource, ResourceKind

MAX_ID_LENGTH = 256
MAX_EXPERT_INDEX = 2**31 - 1

_FIELD = "downStreamResourceId"
_FORMATS = (
    "accepted are agent::<agent_id>_<expert_index>, app::<app_id>_<expert_index> (the expert index may be"
    " left out), workflow::<workflow_id>, function::<function_id>, and a bare <agent_id>"
)
_TRAILING_INDEX = re.compile(r"(.*)_([0-9]+)", re.DOTALL)
_FEW_COLONS = re.compile(rf"({'|'.join(ResourceKind)}):(?!:)")


@lru_cache(1024)
def parse_resource(text: str) -> Resource:
    """The resource that `text` names; its `str()` is the canonical form. Raises `Invalid`.

    Ids may contain underscores: only a trailing `_<digits>` of an agent or app is its expert index. A bare
    id is an agent's as it stands, with expert 0, whatever it ends with.
    """
    if len(text) > limits.RESOURCE_ID:
        raise _invalid(f"has over {limits.RESOURCE_ID} characters")
    prefix, separator, rest = text.partition("::")
    if not separator:
        if _FEW_COLONS.match(text):
            raise _invalid("has one colon after the prefix where two belong")
        return Resource(ResourceKind.AGENT, _checked(text), 0)
    if prefix not in set(ResourceKind):
        raise _invalid("has an unknown prefix")
    kind = ResourceKind(prefix)
    if not kind.has_experts:
        return Resource(kind, _checked(rest))
    trailing = _TRAILING_INDEX.fullmatch(rest)
    if trailing is None:
        return Resource(kind, _checked(rest), 0)
    id_, digits = _checked(trailing[1]), trailing[2]
    if len(digits) > 10 or int(digits) > MAX_EXPERT_INDEX:
        raise _invalid(f"has an expert index over {MAX_EXPERT_INDEX}")
    return Resource(kind, id_, int(digits))


def _checked(id_: str) -> str:
    if not id_:
        raise _invalid("has an empty id")
    if len(id_) > MAX_ID_LENGTH:
        raise _invalid(f"has an id of over {MAX_ID_LENGTH} characters")
    if "::" in id_:
        raise _invalid("has '::' inside its id")
    if not id_.isprintable() or any(character.isspace() for character in id_):
        raise _invalid("has white space or control characters in its id")
    return id_


def _invalid(what: str) -> Invalid:
    return Invalid.of([Fault(_FIELD, f"{what}; {_FORMATS}")])
