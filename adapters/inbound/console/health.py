"""How the health of an instance is told on pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adapters.inbound.console.filters import duration
from domain.events.model import EventKind
from domain.instances.model import Activity
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
