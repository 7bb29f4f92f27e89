"""Knowledge bases: the list, a new one, and the settings of one: its name, who may use it, deleting it."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import ConsoleRequest, faults_of, redirect, render
from adapters.inbound.rest.routing import parsed_id, path_id
from domain.access.sharing import Grantee, Level, require
from domain.knowledge.model import Base, BaseChange, NewBase
from domain.knowledge.rules import NO_BASE
from domain.refusals import Invalid

BASES = "/console/knowledge"
BASE = BASES + "/{base}"
LEVELS = {
    Level.READ: "read and search",
    Level.UPDATE: "read, upload and change files",
    Level.DELETE: "do everything, also share and delete",
}


def base_path(base_id: int) -> str:
    return f"{BASES}/{base_id}"


async def base_of(request: ConsoleRequest) -> Base:
    """The base that the path names, with the caller's level. Raises `NotFound`, `Forbidden`."""
    base_id = path_id(request.path_params["base"], NO_BASE)
    return await request.services.bases.get(request.caller, base_id)


def of_base(base: Base, **more: Any) -> dict[str, Any]:
    """What all pages of a base show."""
    level = base.level or Level.NONE
    rights = {"may_change": level >= Level.UPDATE, "may_share": level >= Level.DELETE}
    return {"base": base, "base_path": base_path(base.id), **rights, **more}


async def bases(request: ConsoleRequest) -> Response:
    return await _bases(request)


async def _bases(request: ConsoleRequest, **given: Any) -> Response:
    listed = await request.services.bases.list(request.caller)
    shown = {"bases": listed, "levels": LEVELS, "name": "", "description": "", "faults": {}, **given}
    return render(request, "knowledge.html", shown, status=400 if shown["faults"] else 200)


async def create(request: ConsoleRequest) -> Response:
    form = await request.posted()
    name, description = str(form.get("name", "")), str(form.get("description", ""))
    try:
        base = await request.services.bases.create(request.caller, NewBase(name, description))
    except Invalid as refusal:
        return await _bases(request, name=name, description=description, faults=faults_of(refusal))
    return redirect(base_path(base.id), "The knowledge base is there. Now add files.")


async def settings(request: ConsoleRequest) -> Response:
    return await _settings(request, await base_of(request))


async def _settings(request: ConsoleRequest, base: Base, **given: Any) -> Response:
    level = base.level or Level.NONE
    require(level, Level.UPDATE)
    may_share = level >= Level.DELETE
    shared = await request.services.bases.permissions(request.caller, base.id) if may_share else ()
    form = {"name": base.name, "description": base.description, "user": "", "level": Level.READ, "faults": {}}
    context = of_base(base, shared=shared, levels=LEVELS, **{**form, **given})
    return render(request, "knowledge_settings.html", context, status=400 if context["faults"] else 200)


async def rename(request: ConsoleRequest) -> Response:
    base, form = await base_of(request), await request.posted()
    name, description = str(form.get("name", "")), str(form.get("description", ""))
    try:
        change = BaseChange(name, description)
        await request.services.bases.update(request.caller, base.id, change)
    except Invalid as refusal:
        return await _settings(request, base, name=name, description=description, faults=faults_of(refusal))
    return redirect(f"{base_path(base.id)}/settings", "Saved.")


async def share(request: ConsoleRequest) -> Response:
    base, form = await base_of(request), await request.posted()
    user, level = str(form.get("user", "")).strip(), str(form.get("level", ""))
    team_id = parsed_id(str(form.get("team", "")))
    grantee = Grantee(team_id=team_id) if team_id else Grantee(user)
    name = f"team {team_id}" if team_id else user
    number = int(level) if level in {"0", "1", "2", "3"} else -1
    try:
        await request.services.bases.set_permission(request.caller, base.id, grantee, number)
    except Invalid as refusal:
        return await _settings(request, base, user=user, level=number, faults=faults_of(refusal))
    done = f"{name} may now {LEVELS[Level(number)]}." if number else f"{name} may not use it any more."
    return redirect(f"{base_path(base.id)}/settings", done)


async def delete(request: ConsoleRequest) -> Response:
    base = await base_of(request)
    await request.services.bases.delete(request.caller, base.id)
    return redirect(BASES, f"{base.name} was deleted with all its files.")


ROUTES = [
    Route(BASES, bases),
    Route(BASES, create, methods=["POST"]),
    Route(BASE + "/settings", settings),
    Route(BASE + "/settings", rename, methods=["POST"]),
    Route(BASE + "/share", share, methods=["POST"]),
    Route(BASE + "/delete", delete, methods=["POST"]),
]
