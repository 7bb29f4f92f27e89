"""How the health of an instance is told on pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from markupsafe import Markup

from adapters.inbound.console.filters import duration
from domain.events import EventKind
from domain.instances.model import Activity, Health, Instance
from domain.monitoring.model import InstanceState

FAILING_KINDS = (EventKind.INSTANCE_HEALTH, EventKind.MESSAGE_FAILED, EventKind.DELIVERY_DEAD)
"""After these events something is broken, or works again."""

FAILS = {
    Activity.RECEIVING: "Messages do not arrive",
    Activity.PROCESSING: "Messages are not answered",
    Activity.SENDING: "Answers are not delivered",
}


def attention(state: InstanceState) -> Sequence[str]:
    """What has to be fixed, in sentences: what fails first, then what is set up wrong."""
    return [*_failing(state), *(_sentence(warning) for warning in state.health.warnings), *_limits(state)]


_CHANGE = Markup('<a href="/console/channels/{}/edit">Change</a>')
_RESOURCE = Markup('<a href="/console/resources?resource={}">Resources</a>')


def next_steps(instance: Instance, health: Health) -> list[Markup]:
    """What a person can do about what fails, a sentence for each cause."""
    change = _CHANGE.format(instance.id)
    steps = {
        Activity.RECEIVING: Markup(
            "Messages do not arrive: correct it on the platform, or under {}. The platform is asked again by itself."
        ).format(change),
        Activity.PROCESSING: Markup(
            "Messages are not answered: try the resource under {}. What waits is given to it again by itself."
        ).format(_RESOURCE.format(quote(instance.resource_id or "", safe=""))),
        Activity.SENDING: Markup(
            "Answers are not delivered: correct it on the platform, or under {}. What waits is sent again by itself."
        ).format(change),
    }
    failing = [activity for activity, state in health.activities.items() if not state.healthy]
    shown = [steps[activity] for activity in failing]
    if health.warnings and not shown:
        shown.append(Markup("Correct it on the platform, or under {}.").format(change))
    return shown


def _failing(state: InstanceState) -> Iterator[str]:
    for activity, health in state.health.activities.items():
        if not health.healthy:
            yield f"{FAILS[activity]}: {health.last_error}"


def _limits(state: InstanceState) -> Iterator[str]:
    cooldown = state.cooldown
    if cooldown.seconds:
        yield f"The platform asked to wait: nothing is sent for {duration(cooldown.seconds)}"
    elif cooldown.conversations:
        yield f"The platform asked to wait in {cooldown.conversations} conversation(s)"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
