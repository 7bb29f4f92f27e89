"""Snippets: answers that are written beforehand, for a user, a team or all."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import needs
from domain.audit.model import Action
from domain.conversations.model import Snippet, SnippetOwners
from domain.paging import LARGEST_LIMIT, Page, checked_limit
from domain.refusals import Fault, Forbidden, Invalid, NotFound
from ports.access import TeamStore
from ports.audit import Audit
from ports.conversations import SnippetStore


@dataclass(frozen=True, slots=True)
class NewSnippet:
    """A snippet of the caller's own, unless it has a team or is `for_all`."""

    name: str
    text: str
    team_id: int | None = None
    for_all: bool = False


@dataclass(frozen=True, slots=True)
class SnippetChange:
    """None leaves a field as it is."""

    name: str | None = None
    text: str | None = None


@dataclass(eq=False)
class SnippetService:
    """Users see their own snippets, those of their teams and those of all. They change their own and those of their
    teams; admins also those of other teams and of all."""

    store: SnippetStore
    teams: TeamStore
    audit: Audit

    @needs(Scope.CONVERSATIONS_READ, Scope.MESSAGES_SEND)
    async def list(self, caller: Caller, query: str, cursor: int, limit: int) -> Page[Snippet, int]:
        """Ordered by id. `query`: a part of the name or the text. Raises `Invalid`."""
        limits.check_text("query", query, limits.CONVERSATION_QUERY)
        snippets = await self.store.list(
            await self._owners(caller), query.strip(), cursor, checked_limit(limit) + 1
        )
        return Page(snippets[:limit], snippets[limit - 1].id if len(snippets) > limit else None)

    @needs(Scope.CONVERSATIONS_READ, Scope.MESSAGES_SEND)
    async def get(self, caller: Caller, snippet_id: int) -> Snippet:
        """Raises `NotFound`, also for what belongs to others."""
        snippet = await self.store.find(snippet_id)
        if snippet is None or not await self._sees(caller, snippet):
            raise unknown_snippet(snippet_id)
        return snippet

    @needs(Scope.MESSAGES_SEND)
    async def create(self, caller: Caller, new: NewSnippet) -> Snippet:
        """Raises `Invalid`, `Forbidden`."""
        if new.team_id is not None and new.for_all:
            raise Invalid.of([Fault("teamId", "a snippet for all is of no team: leave out teamId or forAll")])
        name, text = _checked_name(new.name), _checked_text(new.text)
        if new.for_all:
            caller.require_admin("writes snippets for all")
        elif new.team_id is not None:
            await self._check_member(caller, new.team_id)
        own = new.team_id is None and not new.for_all
        async with self.audit.change(caller, Action.SNIPPET_CREATED, "snippet", {"name": name}) as details:
            snippet = await self.store.add(name, text, caller.user if own else None, new.team_id)
            if snippet is None:
                raise Invalid.of([Fault("teamId", f"there is no team {new.team_id}")])
            details.update(object=f"snippet:{snippet.id}", teamId=new.team_id, forAll=new.for_all)
        return snippet

    @needs(Scope.MESSAGES_SEND)
    async def change(self, caller: Caller, snippet_id: int, change: SnippetChange) -> Snippet:
        """Raises `NotFound`, `Forbidden`, `Invalid`."""
        snippet = await self._changeable(caller, snippet_id)
        name = snippet.name if change.name is None else _checked_name(change.name)
        text = snippet.text if change.text is None else _checked_text(change.text)
        async with self.audit.change(caller, Action.SNIPPET_CHANGED, f"snippet:{snippet_id}", {"name": name}):
            changed = await self.store.change(snippet_id, name, text)
            if changed is None:
                raise unknown_snippet(snippet_id)
        return changed

    @needs(Scope.MESSAGES_SEND)
    async def delete(self, caller: Caller, snippet_id: int) -> None:
        """Raises `NotFound`, `Forbidden`."""
        snippet = await self._changeable(caller, snippet_id)
        data = {"name": snippet.name}
        async with self.audit.change(caller, Action.SNIPPET_DELETED, f"snippet:{snippet_id}", data):
            if not await self.store.remove(snippet_id):
                raise unknown_snippet(snippet_id)

    async def _owners(self, caller: Caller) -> SnippetOwners:
        teams: Sequence[int] = [team.id for team in await self.teams.list(caller.user_id, 0, LARGEST_LIMIT)]
        return SnippetOwners(caller.user_id, tuple(teams))

    async def _sees(self, caller: Caller, snippet: Snippet) -> bool:
        is_shared = snippet.user_id is None
        return (caller.is_admin and is_shared) or (await self._owners(caller)).include(snippet)

    async def _changeable(self, caller: Caller, snippet_id: int) -> Snippet:
        snippet = await self.get(caller, snippet_id)
        if snippet.user_id is None and snippet.team_id is None:
            caller.require_admin("changes snippets for all")
        return snippet

    async def _check_member(self, caller: Caller, team_id: int) -> None:
        if not caller.is_admin and team_id not in (await self._owners(caller)).team_ids:
            raise Forbidden("teamId: you are no member of this team")


def unknown_snippet(snippet_id: int) -> NotFound:
    return NotFound(f"there is no snippet {snippet_id}")


def _checked_name(name: str) -> str:
    return limits.check_filled("name", name, limits.KEY_NAME).strip()


def _checked_text(text: str) -> str:
    return limits.check_filled("text", text, limits.MESSAGE_TEXT)
