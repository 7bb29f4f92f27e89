"""Connecting a channel, and changing how it is connected."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.channel_setup import (
    LABELS,
    NAME,
    RESOURCE,
    callback_address,
    config_to_save,
    fields_of,
    in_words,
    input_name,
    is_public,
    label_of,
    posted_config,
    steps_of,
)
from adapters.inbound.console.filters import sentence
from adapters.inbound.console.requests import (
    caller_of,
    faults_of,
    form_of,
    gateway_of,
    instance_of,
    is_htmx,
    redirect,
    render,
    render_part,
    services_of,
)
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
        return LABELS.get(name) or label_of(name.partition("-")[2] or name)


@dataclass(frozen=True, slots=True)
class Posted:
    """What was typed, and what the service says of it."""

    values: Mapping[str, str]
    faults: Mapping[str, str]
    check: CredentialsCheck | None = None


async def target_of(request: Request) -> FormTarget:
    """Raises `NotFound`, `Forbidden`."""
    services, params = services_of(request), request.path_params
    if "type" in params:
        definition = await services.catalogue.definition(params["type"])
        return FormTarget(definition, None, f"{CHANNELS}/new/{definition.id}")
    number = instance_of(request)
    instance = (await services.instances.get(caller_of(request), number)).instance
    definition = await services.catalogue.definition(instance.channel_id)
    return FormTarget(definition, instance, f"{CHANNELS}/{number}/edit")


async def form(request: Request) -> Response:
    target = await target_of(request)
    name = target.instance.channel_name if target.instance else target.definition.name
    resource = target.instance.resource_id or "" if target.instance else ECHO
    suggested = {field.name: field.suggested for field in target.definition.fields if field.suggested}
    shown = target.stored if target.instance else suggested
    return await _page(request, target, Posted({NAME: name, RESOURCE: resource}, {}), shown)


async def save(request: Request) -> Response:
    target, values = await target_of(request), await _values(request)
    try:
        instance_id = await _saved(request, target, values)
    except (Invalid, Conflict) as refusal:
        return await _answer(request, target, Posted(values, _faults(target, refusal)))
    path = f"{CHANNELS}/{instance_id}"
    response = redirect(path, f"Saved. {TRUST_ENDED}." if await _ended_trust(request, target) else "Saved.")
    if is_htmx(request):
        response.status_code = 204
        response.headers["HX-Redirect"] = path
    return response


async def _ended_trust(request: Request, target: FormTarget) -> bool:
    """Return True if the change that was saved ended the trust in the instance."""
    if target.instance is None or not target.instance.trusted:
        return False
    view = await services_of(request).instances.get(caller_of(request), target.instance.id)
    return not view.instance.trusted


async def _saved(request: Request, target: FormTarget, values: Mapping[str, str]) -> int:
    instances, caller = services_of(request).instances, caller_of(request)
    config = config_to_save(target.definition, values, target.stored)
    name, resource = values.get(NAME, "").strip(), _resource(target, values)
    if target.instance is None:
        new = NewInstance(target.definition.id, name, config, resource)
        return (await instances.create(caller, new)).instance_id
    change = InstanceChange(config, resource, name)
    return (await instances.update(caller, target.instance.id, change)).instance_id


async def check(request: Request) -> Response:
    """The error of the field that was just left or typed in."""
    target, values = await target_of(request), await _values(request)
    faults = await services_of(request).checks.faults(caller_of(request), _draft(target, values))
    named = _faults(target, Invalid.of(faults)) if faults else {}
    return render_part(
        request, "fault.html", {"fault": named.get(request.headers.get("hx-trigger-name", ""), "")}
    )


async def check_credentials(request: Request) -> Response:
    target, values = await target_of(request), await _values(request)
    try:
        result = await services_of(request).checks.credentials(caller_of(request), _draft(target, values))
    except Invalid as refusal:
        return await _answer(request, target, Posted(values, _faults(target, refusal)))
    except TooMany as refusal:
        return await _answer(request, target, Posted(values, {"": sentence(refusal.message)}), status=429)
    return await _answer(request, target, Posted(values, {}, result), status=200)


def _draft(target: FormTarget, values: Mapping[str, str]) -> ConfigDraft:
    return ConfigDraft(
        channel_id=target.definition.id,
        config=posted_config(target.definition, values, target.stored),
        channel_name=values.get(NAME, "").strip(),
        resource_id=_resource(target, values),
        instance_id=target.instance_id,
    )


def _resource(target: FormTarget, values: Mapping[str, str]) -> str | None:
    """The resource id, or None without one; an instance that has a resource keeps the field, empty."""
    had_one = target.instance is not None and target.instance.resource_id is not None
    return values.get(RESOURCE, "").strip() or ("" if had_one else None)


async def _values(request: Request) -> dict[str, str]:
    return {name: value for name, value in (await form_of(request)).items() if isinstance(value, str)}


def _faults(target: FormTarget, refusal: Invalid | Conflict) -> dict[str, str]:
    """Errors as sentences by the name of the input; a conflict is one of names."""
    faults = {NAME: refusal.message} if isinstance(refusal, Conflict) else faults_of(refusal)
    words = {field: in_words(target.definition, text) for field, text in faults.items()}
    return {input_name(field): sentence(text) for field, text in words.items()}


async def _answer(request: Request, target: FormTarget, posted: Posted, *, status: int = 400) -> Response:
    """The outcome beside the buttons and the faults at their fields, or the page with what was typed."""
    if not is_htmx(request):
        config = posted_config(target.definition, posted.values, target.stored)
        return await _page(request, target, posted, config, status)
    names = [NAME, RESOURCE, *(field.name for field in fields_of(target.definition, {}, target.stored))]
    context = {"target": target, "posted": posted, "names": names, "typed_again": False}
    return render_part(request, "channel_form_result.html", context)


async def _resources(request: Request) -> list[tuple[str, str]]:
    """Resources that are known by name, to choose from: built-ins, and for an admin rules for one id."""
    services, caller = services_of(request), caller_of(request)
    resources = [(ECHO, "repeats what it gets")]
    resources += [(f"agent::kb-{base.id}", base.name) for base in await services.bases.list(caller)]
    rules = (await services.resources.rules(caller)).rules if caller.is_admin else ()
    return resources + [(rule.match, rule.kind) for rule in rules if not GLOB & set(rule.match)]


async def _page(
    request: Request, target: FormTarget, posted: Posted, values: Mapping[str, object], status: int = 200
) -> Response:
    base = gateway_of(request).options.agent_url
    instance = target.instance
    address = callback_address(base, target.definition, instance) if instance else None
    context = {
        "target": target,
        "definition": target.definition,
        "posted": posted,
        "fields": fields_of(target.definition, values, target.stored),
        "resources": await _resources(request),
        "typed_again": status != 200,
        "steps": steps_of(target.definition, address),
        "public": is_public(base),
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
