"""Knowledge bases: the list, a new one, and the settings of one: its name, who may use it, deleting it."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import caller_of, faults_of, form_of, redirect, render, services_of
from adapters.inbound.rest.routing import path_id
from domain.knowledge.model import Base, BaseChange, Level, NewBase
from domain.knowledge.rules import NO_BASE, require
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


async def base_of(request: Request) -> Base:
    """The base that the path names, with the caller's level. Raises `NotFound`, `Forbidden`."""
    base_id = path_id(request.path_params["base"], NO_BASE)
    return await services_of(request).bases.get(caller_of(request), base_id)


def of_base(base: Base, **more: Any) -> dict[str, Any]:
    """What all pages of a base show."""
    level = base.level or Level.NONE
    rights = {"may_change": level >= Level.UPDATE, "may_share": level >= Level.DELETE}
    return {"base": base, "base_path": base_path(base.id), **rights, **more}


async def bases(request: Request) -> Response:
    return await _bases(request)


async def _bases(request: Request, status: int = 200, **given: Any) -> Response:
    listed = await services_of(request).bases.list(caller_of(request))
    form = {"name": "", "description": "", "faults": {}, **given}
    return render(request, "knowledge.html", {"bases": listed, "levels": LEVELS, **form}, status=status)


async def create(request: Request) -> Response:
    form = await form_of(request)
    name, description = str(form.get("name", "")), str(form.get("description", ""))
    try:
        base = await services_of(request).bases.create(caller_of(request), NewBase(name, description))
    except Invalid as refusal:
        faults = faults_of(refusal)
        return await _bases(request, 400, name=name, description=description, faults=faults)
    return redirect(base_path(base.id), "The knowledge base is there. Now add files.")


async def settings(request: Request) -> Response:
    return await _settings(request, await base_of(request))


async def _settings(request: Request, base: Base, status: int = 200, **given: Any) -> Response:
    require(base.level or Level.NONE, Level.UPDATE)
    shared = await _shared(request, base)
    values = {
        "name": base.name,
        "description": base.description,
        "user": "",
        "level": Level.READ,
        "faults": {},
    }
    context = of_base(base, shared=shared, levels=LEVELS, **{**values, **given})
    return render(request, "knowledge_settings.html", context, status=status)


async def _shared(request: Request, base: Base) -> list[dict[str, Any]]:
    if (base.level or Level.NONE) < Level.DELETE:
        return []
    permissions = await services_of(request).bases.permissions(caller_of(request), base.id)
    return [
        {
            "user": permission.user_id,
            "level": permission.level,
            "is_owner": permission.user_id == base.created_by,
        }
        for permission in permissions
    ]


async def rename(request: Request) -> Response:
    base, form = await base_of(request), await form_of(request)
    name, description = str(form.get("name", "")), str(form.get("description", ""))
    try:
        change = BaseChange(name, description)
        await services_of(request).bases.update(caller_of(request), base.id, change)
    except Invalid as refusal:
        faults = faults_of(refusal)
        return await _settings(request, base, 400, name=name, description=description, faults=faults)
    return redirect(f"{base_path(base.id)}/settings", "Saved.")


async def share(request: Request) -> Response:
    base, form = await base_of(request), await form_of(request)
    user, level = str(form.get("user", "")).strip(), str(form.get("level", ""))
    number = int(level) if level in {"0", "1", "2", "3"} else -1
    try:
        await services_of(request).bases.set_permission(caller_of(request), base.id, user, number)
    except Invalid as refusal:
        return await _settings(request, base, 400, user=user, level=number, faults=faults_of(refusal))
    done = f"{user} may now {LEVELS[Level(number)]}." if number else f"{user} may not use it any more."
    return redirect(f"{base_path(base.id)}/settings", done)


async def delete(request: Request) -> Response:
    base = await base_of(request)
    await services_of(request).bases.delete(caller_of(request), base.id)
    return redirect(BASES, f"{base.name} was deleted with all its files.")


ROUTES = [
    Route(BASES, bases),
    Route(BASES, create, methods=["POST"]),
    Route(BASE + "/settings", settings),
    Route(BASE + "/settings", rename, methods=["POST"]),
    Route(BASE + "/share", share, methods=["POST"]),
    Route(BASE + "/delete", delete, methods=["POST"]),
]
