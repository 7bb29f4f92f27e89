"""Knowledge bases by name or id, and in pages."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.inbound.rest.routing import parsed_id
from domain.access.model import Caller
from domain.knowledge.model import Base
from domain.knowledge.rules import NO_BASE
from domain.paging import cursor_of, read_cursor
from domain.refusals import Fault, Invalid, NotFound
from ports.use_cases import UseCases

MOST_BASES = 50
SHOWN_DESCRIPTION = 500
"""Characters of a description in a list."""
BASE_URI = "switchboard://knowledge-bases/"


def base_uri(base_id: int) -> str:
    return f"{BASE_URI}{base_id}"


async def page_of_bases(
    services: UseCases, caller: Caller, limit: int, cursor: str | None
) -> tuple[Sequence[Base], str | None]:
    """Those that the caller may access, by id, and the cursor of the next page. Raises `Invalid`."""
    after = read_cursor(cursor, int)
    bases = sorted(await services.bases.list(caller), key=lambda base: base.id)
    following = [base for base in bases if after is None or (base.id,) > after]
    more = len(following) > limit
    return following[:limit], cursor_of(following[limit - 1].id) if more else None


async def find_base(services: UseCases, caller: Caller, wanted: str) -> int:
    """The id of a base that is named by its id or its name. Raises `NotFound`, `Invalid`."""
    base_id = parsed_id(wanted.strip())
    if base_id is not None:
        return base_id
    name = wanted.strip().casefold()
    named = [base for base in await services.bases.list(caller) if base.name.strip().casefold() == name]
    if not named:
        raise NotFound(f"knowledgeBase: {NO_BASE}; list_knowledge_bases gives those that there are")
    if len(named) > 1:
        ids = ", ".join(str(base.id) for base in named[:20])
        raise Invalid.of([Fault("knowledgeBase", f"several have this name; give one of the ids {ids}")])
    return named[0].id
