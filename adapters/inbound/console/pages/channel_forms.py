"""Connecting a channel, and changing how it is connected."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console import channel_setup as setup
from adapters.inbound.console.filters import sentence
from adapters.inbound.console.requests import ConsoleRequest, faults_of, redirect, render, render_part
from domain.channels.model import ChannelDefinition
from domain.instances.model import ConfigDraft, CredentialsCheck, Instance, InstanceChange, NewInstance
from domain.instances.service import TRUST_ENDED
from domain.refusals import Conflict, Invalid, TooMany

CHANNELS = "/console/channels"
GLOB = frozenset("*?[")
ECHO = "agent::echo"
"""Answers a first message without anything else to set up."""
NEW = CHANNELS + "/new/{type}"
EDIT = CHANNELS + "/{instance}/edit"


@dataclass(frozen=True, slots=True)
class FormTarget:
    """What a form is for: a new instance of a channel, or one that is there."""

    definition: ChannelDefinition
    instance: Instance | None
    path: str

    @property
    def stored(self) -> Mapping[str, object]:
        return self.instance.config if self.instance else {}

    @property
    def instance_id(self) -> int | None:
        return self.instance.id if self.instance else None

    def label(self, name: str) -> str:
        return setup.LABELS.get(name) or setup.label_of(name.partition("-")[2] or name)


@dataclass(frozen=True, slots=True)
class Posted:
    """What was typed, and what the service says of it."""

    values: Mapping[str, str]
    faults: Mapping[str, str]
    check: CredentialsCheck | None = None


async def target_of(request: ConsoleRequest) -> FormTarget:
    """Raises `NotFound`, `Forbidden`."""
    services, params = request.services, request.path_params
    if "type" in params:
        definition = await services.catalogue.definition(params["type"])
        return FormTarget(definition, None, f"{CHANNELS}/new/{definition.id}")
    number = request.instance_id
    instance = (await services.instances.get(request.caller, number)).instance
    definition = await services.catalogue.definition(instance.channel_id)
    return FormTarget(definition, instance, f"{CHANNELS}/{number}/edit")


async def form(request: ConsoleRequest) -> Response:
    target = await target_of(request)
    name = target.instance.channel_name if target.instance else target.definition.name
    resource = target.instance.resource_id or "" if target.instance else ECHO
    suggested = {field.name: field.suggested for field in target.definition.fields if field.suggested}
    shown = target.stored if target.instance else suggested
    return await _page(request, target, Posted({setup.NAME: name, setup.RESOURCE: resource}, {}), shown)


async def save(request: ConsoleRequest) -> Response:
    target, values = await target_of(request), await _values(request)
    instances, caller = request.services.instances, request.caller
    config = setup.config_to_save(target.definition, values, target.stored)
    name, resource = values.get(setup.NAME, "").strip(), _resource(target, values)
    notice = "Saved."
    try:
        if target.instance is None:
            new = NewInstance(target.definition.id, name, config, resource)
            instance_id = (await instances.create(caller, new)).instance_id
        else:
            instance_id = target.instance.id
            await instances.update(caller, instance_id, InstanceChange(config, resource, name))
            if target.instance.trusted and not (await instances.get(caller, instance_id)).instance.trusted:
                notice = f"Saved. {TRUST_ENDED}."
    except (Invalid, Conflict) as refusal:
        return await _answer(request, target, Posted(values, _faults(target, refusal)))
    path = f"{CHANNELS}/{instance_id}"
    response = redirect(path, notice)
    if request.is_htmx:
        response.status_code = 204
        response.headers["HX-Redirect"] = path
    return response


async def check(request: ConsoleRequest) -> Response:
    """The error of the field that was just left or typed in."""
    target, values = await target_of(request), await _values(request)
    faults = await request.services.checks.faults(request.caller, _draft(target, values))
    named = _faults(target, Invalid.of(faults)) if faults else {}
    fault = named.get(request.headers.get("hx-trigger-name", ""), "")
    return render_part(request, "fault.html", {"fault": fault})


async def check_credentials(request: ConsoleRequest) -> Response:
    target, values = await target_of(request), await _values(request)
    try:
        result = await request.services.checks.credentials(request.caller, _draft(target, values))
    except Invalid as refusal:
        return await _answer(request, target, Posted(values, _faults(target, refusal)))
    except TooMany as refusal:
        return await _answer(request, target, Posted(values, {"": sentence(refusal.message)}), status=429)
    return await _answer(request, target, Posted(values, {}, result), status=200)


def _draft(target: FormTarget, values: Mapping[str, str]) -> ConfigDraft:
    return ConfigDraft(
        channel_id=target.definition.id,
        config=setup.posted_config(target.definition, values, target.stored),
        channel_name=values.get(setup.NAME, "").strip(),
        resource_id=_resource(target, values),
        instance_id=target.instance_id,
    )


def _resource(target: FormTarget, values: Mapping[str, str]) -> str | None:
    """The resource id, or None without one; an instance that has a resource keeps the field, empty."""
    had_one = target.instance is not None and target.instance.resource_id is not None
    return values.get(setup.RESOURCE, "").strip() or ("" if had_one else None)


async def _values(request: ConsoleRequest) -> dict[str, str]:
    return {name: value for name, value in (await request.posted()).items() if isinstance(value, str)}


def _faults(target: FormTarget, refusal: Invalid | Conflict) -> dict[str, str]:
    """Errors as sentences by the name of the input; a conflict is one of names."""
    faults = {setup.NAME: refusal.message} if isinstance(refusal, Conflict) else faults_of(refusal)
    words = {field: setup.in_words(target.definition, text) for field, text in faults.items()}
    return {setup.input_name(field): sentence(text) for field, text in words.items()}


async def _answer(
    request: ConsoleRequest, target: FormTarget, posted: Posted, *, status: int = 400
) -> Response:
    """The outcome beside the buttons and the faults at their fields, or the page with what was typed."""
    if not request.is_htmx:
        config = setup.posted_config(target.definition, posted.values, target.stored)
        return await _page(request, target, posted, config, status)
    names = [setup.NAME, setup.RESOURCE, *(setup.PREFIX + field.name for field in target.definition.fields)]
    context = {"target": target, "posted": posted, "names": names, "typed_again": False}
    return render_part(request, "channel_form_result.html", context)


async def _page(
    request: ConsoleRequest,
    target: FormTarget,
    posted: Posted,
    values: Mapping[str, object],
    status: int = 200,
) -> Response:
    services, caller = request.services, request.caller
    base = request.gateway.options.agent_url
    instance = target.instance
    address = setup.callback_address(base, target.definition, instance) if instance else None
    # Resources to choose from: the echo, knowledge bases, and for an admin rules for one id.
    resources = [(ECHO, "repeats what it gets")]
    resources += [(f"agent::kb-{kb.id}", kb.name) for kb in await services.bases.list(caller)]
    rules = (await services.resources.rules(caller)).rules if caller.is_admin else ()
    resources += [(rule.match, rule.kind) for rule in rules if not GLOB & set(rule.match)]
    context = {
        "target": target,
        "definition": target.definition,
        "posted": posted,
        "fields": setup.fields_of(target.definition, values, target.stored),
        "resources": resources,
        "typed_again": status != 200,
        "steps": setup.steps_of(target.definition, address),
        "public": setup.is_public(base),
        "base": base,
    }
    return render(request, "channel_form.html", context, status=status)


ROUTES = [
    route
    for path in (NEW, EDIT)
    for route in (
        Route(path, form),
        Route(path, save, methods=["POST"]),
        Route(f"{path}/check", check, methods=["POST"]),
        Route(f"{path}/check-credentials", check_credentials, methods=["POST"]),
    )
]
