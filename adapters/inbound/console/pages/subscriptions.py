"""Event subscriptions: what is pushed where, and the log of it."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import ConsoleRequest, faults_of, redirect, render, render_part
from adapters.inbound.rest.routing import parsed_id, path_id
from domain.events import EventKind
from domain.instances.model import Instance
from domain.refusals import Conflict, Forbidden, Invalid, NotFound, Refusal
from domain.subscriptions.model import OFF, ON, SubscriptionFields

PAGE = "/console/subscriptions"
ONE = PAGE + "/{subscription}"
MEANINGS = {
    EventKind.MESSAGE_RECEIVED: "a message came in",
    EventKind.MESSAGE_ANSWERED: "it was answered",
    EventKind.MESSAGE_FAILED: "it was given up",
    EventKind.MESSAGE_FEEDBACK: "a person voted on an answer",
    EventKind.DELIVERY_SENT: "the platform took an answer",
    EventKind.DELIVERY_DEAD: "an answer could not be delivered",
    EventKind.CONFIRMATION_ASKED: "somebody is asked whether a tool may run",
    EventKind.CONFIRMATION_DECIDED: "they decided",
    EventKind.CONVERSATION_HANDLER: "a person took a conversation over, or handed it back",
    EventKind.CONVERSATION_CHANGED: "it was assigned, labelled or closed",
    EventKind.CONVERSATION_NOTE: "a colleague wrote a note",
    EventKind.INSTANCE_HEALTH: "a channel fails, or works again",
    EventKind.UPLOAD_READY: "files can be searched",
    EventKind.UPLOAD_FAILED: "files were given up",
    EventKind.IDENTITY_VERIFIED: "an identity was verified",
    EventKind.BUDGET_REACHED: "a budget was reached",
    EventKind.NOTIFICATION_CREATED: "a user was notified",
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


async def subscriptions(request: ConsoleRequest) -> Response:
    page = request.cursor_page
    listed = await request.services.subscriptions.list(request.caller, page.number, page.limit)
    return render(request, "subscriptions.html", {"subscriptions": listed.items, "next": listed.next})


async def new(request: ConsoleRequest) -> Response:
    return await _form(request, FormValues())


async def create(request: ConsoleRequest) -> Response:
    """The secret is shown here alone, so there is no redirect."""
    typed = FormValues.of(await request.posted())
    try:
        view = await request.services.subscriptions.create(request.caller, typed.fields())
    except (Invalid, Conflict, NotFound, Forbidden) as refusal:
        return await _form(request, typed, refusal)
    return render(request, "subscription_made.html", {"view": view})


async def edit(request: ConsoleRequest) -> Response:
    stored = (await request.services.subscriptions.get(request.caller, _id(request))).subscription
    values = FormValues(stored.url, stored.kinds, stored.instance_ids)
    return await _form(request, values, subscription_id=stored.id)


async def change(request: ConsoleRequest) -> Response:
    """Saves the fields; a subscription that is off stays off."""
    typed, service = FormValues.of(await request.posted()), request.services.subscriptions
    stored = (await service.get(request.caller, _id(request))).subscription
    try:
        await service.change(request.caller, stored.id, typed.fields(stored.status))
    except (Invalid, NotFound, Forbidden) as refusal:
        return await _form(request, typed, refusal, subscription_id=stored.id)
    return redirect(_path(request), "Saved.")


async def _form(
    request: ConsoleRequest,
    form: FormValues,
    refusal: Refusal | None = None,
    *,
    subscription_id: int | None = None,
) -> Response:
    faults = faults_of(refusal) if isinstance(refusal, Invalid) else {"": refusal.message} if refusal else {}
    values = {
        "given": form,
        "faults": faults,
        "meanings": MEANINGS,
        "instances": await _offered(request),
        "id": subscription_id,
    }
    return render(request, "subscription_form.html", values, status=400 if refusal else 200)


async def _offered(request: ConsoleRequest) -> list[Instance]:
    page = await request.services.instances.page(request.caller, 0, OFFERED_BYTES)
    return [view.instance for view in page.views]


async def subscription(request: ConsoleRequest) -> Response:
    subscription_id, caller, services = _id(request), request.caller, request.services
    page, state = request.cursor_page, request.query_params.get("status", "")
    log = await services.pushes.pushes(caller, subscription_id, state or None, page.number, page.limit)
    values = {"id": subscription_id, "log": log, "state": state, "states": STATES, "meanings": MEANINGS}
    if request.is_htmx:
        return render_part(request, "subscription.html", values, block="log")
    view = await services.subscriptions.get(caller, subscription_id)
    names = {instance.id: instance.channel_name for instance in await _offered(request)}
    kinds = view.subscription.kinds or tuple(EventKind)
    return render(request, "subscription.html", {**values, "view": view, "names": names}, live_kinds=kinds)


async def switch(request: ConsoleRequest) -> Response:
    status = OFF if (await request.posted()).get("status") == OFF else ON
    fields = SubscriptionFields(status=status)
    await request.services.subscriptions.change(request.caller, _id(request), fields)
    notice = "Nothing is pushed any more." if status == OFF else "Events are pushed from now on."
    return redirect(_path(request), notice)


async def test(request: ConsoleRequest) -> Response:
    result = await request.services.subscriptions.test(request.caller, _id(request))
    values = {"id": _id(request), "result": result}
    if request.is_htmx:
        return render_part(request, "subscription_test.html", values, block="result")
    return render(request, "subscription_test.html", values)


async def delete(request: ConsoleRequest) -> Response:
    await request.services.subscriptions.remove(request.caller, _id(request))
    return redirect(PAGE, "The subscription is deleted.")


async def replay(request: ConsoleRequest) -> Response:
    push_id = path_id(request.path_params["push"], "there is no push {}")
    await request.services.pushes.replay(request.caller, _id(request), push_id)
    return redirect(_path(request), "It is pushed again.")


def _id(request: ConsoleRequest) -> int:
    return path_id(request.path_params["subscription"], "there is no subscription {}")


def _path(request: ConsoleRequest) -> str:
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
