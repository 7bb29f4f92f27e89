"""Event subscriptions: what is pushed where, and the log of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import (
    caller_of,
    cursor_page,
    faults_of,
    form_of,
    is_htmx,
    redirect,
    render,
    render_part,
    services_of,
)
from adapters.inbound.rest.routing import parsed_id, path_id
from domain.events import EventKind
from domain.instances.model import Instance
from domain.refusals import Conflict, Forbidden, Invalid, NotFound
from domain.subscriptions.model import OFF, ON, SubscriptionFields

PAGE = "/console/subscriptions"
ONE = PAGE + "/{subscription}"
MEANINGS = {
    EventKind.MESSAGE_RECEIVED: "a message came in",
    EventKind.MESSAGE_ANSWERED: "it was answered",
    EventKind.MESSAGE_FAILED: "it was given up",
    EventKind.DELIVERY_SENT: "the platform took an answer",
    EventKind.DELIVERY_DEAD: "an answer could not be delivered",
    EventKind.CONFIRMATION_ASKED: "somebody is asked whether a tool may run",
    EventKind.CONFIRMATION_DECIDED: "they decided",
    EventKind.CONVERSATION_HANDLER: "a person took a conversation over, or handed it back",
    EventKind.INSTANCE_HEALTH: "a channel fails, or works again",
    EventKind.UPLOAD_READY: "files can be searched",
    EventKind.UPLOAD_FAILED: "files were given up",
    EventKind.IDENTITY_VERIFIED: "an identity was verified",
}
STATES = {"": "All", "pending": "On their way", "sent": "Taken", "dead": "Given up"}
OFFERED_BYTES = 200_000
"""Of the configurations of the instances that a form offers, together."""


@dataclass(frozen=True, slots=True)
class FormValues:
    """The fields of the form."""

    url: str = ""
    kinds: tuple[str, ...] = ()
    instance_ids: tuple[int, ...] = ()

    @classmethod
    def of(cls, form: FormData) -> FormValues:
        ids = [parsed_id(str(text)) for text in form.getlist("instanceIds")]
        known = tuple(instance_id for instance_id in ids if instance_id is not None)
        return cls(str(form.get("url", "")).strip(), tuple(map(str, form.getlist("kinds"))), known)

    def fields(self, status: str | None = None) -> SubscriptionFields:
        return SubscriptionFields(self.url, self.kinds, self.instance_ids, status=status)


async def subscriptions(request: Request) -> Response:
    page = cursor_page(request)
    listed = await services_of(request).subscriptions.list(caller_of(request), page.number, page.limit)
    values = {"subscriptions": listed.items, "next": listed.next}
    return render(request, "subscriptions.html", values)


async def new(request: Request) -> Response:
    return await _form(request, FormValues())


async def create(request: Request) -> Response:
    """The secret is shown here alone, so there is no redirect."""
    typed = FormValues.of(await form_of(request))
    try:
        view = await services_of(request).subscriptions.create(caller_of(request), typed.fields())
    except (Invalid, Conflict, NotFound, Forbidden) as refusal:
        return await _form(request, typed, _faults(refusal), 400)
    return render(request, "subscription_made.html", {"view": view})


async def edit(request: Request) -> Response:
    stored = (await services_of(request).subscriptions.get(caller_of(request), _id(request))).subscription
    values = FormValues(stored.url, stored.kinds, stored.instance_ids)
    return await _form(request, values, subscription_id=stored.id)


async def change(request: Request) -> Response:
    """Saves the fields; a subscription that is off stays off."""
    typed, service = FormValues.of(await form_of(request)), services_of(request).subscriptions
    stored = (await service.get(caller_of(request), _id(request))).subscription
    try:
        await service.change(caller_of(request), stored.id, typed.fields(stored.status))
    except (Invalid, NotFound, Forbidden) as refusal:
        return await _form(request, typed, _faults(refusal), 400, subscription_id=stored.id)
    return redirect(_path(request), "Saved.")


def _faults(refusal: Invalid | Conflict | NotFound | Forbidden) -> dict[str, str]:
    return faults_of(refusal) if isinstance(refusal, Invalid) else {"": refusal.message}


async def _form(
    request: Request,
    form: FormValues,
    faults: Mapping[str, str] | None = None,
    status: int = 200,
    *,
    subscription_id: int | None = None,
) -> Response:
    values = {
        "given": form,
        "faults": faults or {},
        "meanings": MEANINGS,
        "instances": await _offered(request),
        "id": subscription_id,
    }
    return render(request, "subscription_form.html", values, status=status)


async def _offered(request: Request) -> list[Instance]:
    page = await services_of(request).instances.page(caller_of(request), 0, OFFERED_BYTES)
    return [view.instance for view in page.views]


async def subscription(request: Request) -> Response:
    subscription_id, caller, services = _id(request), caller_of(request), services_of(request)
    page = cursor_page(request)
    state = request.query_params.get("status", "")
    log = await services.pushes.pushes(caller, subscription_id, state or None, page.number, page.limit)
    values = {"id": subscription_id, "log": log, "state": state, "states": STATES, "meanings": MEANINGS}
    if is_htmx(request):
        return render_part(request, "subscription.html", values, block="log")
    view = await services.subscriptions.get(caller, subscription_id)
    names = {instance.id: instance.channel_name for instance in await _offered(request)}
    kinds = view.subscription.kinds or tuple(EventKind)
    values = {**values, "view": view, "names": names}
    return render(request, "subscription.html", values, live_kinds=kinds)


async def switch(request: Request) -> Response:
    status = OFF if (await form_of(request)).get("status") == OFF else ON
    fields = SubscriptionFields(status=status)
    await services_of(request).subscriptions.change(caller_of(request), _id(request), fields)
    notice = "Nothing is pushed any more." if status == OFF else "Events are pushed from now on."
    return redirect(_path(request), notice)


async def test(request: Request) -> Response:
    result = await services_of(request).subscriptions.test(caller_of(request), _id(request))
    values = {"id": _id(request), "result": result}
    if is_htmx(request):
        return render_part(request, "subscription_test.html", values, block="result")
    return render(request, "subscription_test.html", values)


async def delete(request: Request) -> Response:
    await services_of(request).subscriptions.remove(caller_of(request), _id(request))
    return redirect(PAGE, "The subscription is deleted.")


async def replay(request: Request) -> Response:
    push_id = path_id(request.path_params["push"], "there is no push {}")
    await services_of(request).pushes.replay(caller_of(request), _id(request), push_id)
    return redirect(_path(request), "It is pushed again.")


def _id(request: Request) -> int:
    return path_id(request.path_params["subscription"], "there is no subscription {}")


def _path(request: Request) -> str:
    return f"{PAGE}/{_id(request)}"


ROUTES = [
    Route(PAGE, subscriptions),
    Route(PAGE + "/new", new),
    Route(PAGE + "/new", create, methods=["POST"]),
    Route(ONE, subscription),
    Route(ONE + "/edit", edit),
    Route(ONE + "/edit", change, methods=["POST"]),
    Route(ONE + "/status", switch, methods=["POST"]),
    Route(ONE + "/test", test, methods=["POST"]),
    Route(ONE + "/delete", delete, methods=["POST"]),
    Route(ONE + "/pushes/{push}/replay", replay, methods=["POST"]),
]
