"""What operators look at to protobuf and back."""

from collections.abc import Sequence

from switchboard.monitoring.v1 import monitoring_pb2 as pb

from adapters.wire.conversion import Conversion
from adapters.wire.instances import health_from_pb, health_to_pb
from adapters.wire.messages import message_from_pb, message_to_pb
from domain.conversations.model import Direction
from domain.monitoring.model import (
    Backlog,
    Cooldown,
    Counts,
    DeadLetter,
    DeadLetterId,
    DeadLetterPage,
    DeadLetterView,
    DeadPart,
    Figure,
    Figures,
    Finding,
    HealthPage,
    InstanceName,
    InstanceState,
    ItemResult,
    Period,
)
from domain.monitoring.rules import parse_direction
from domain.paging import DEFAULT_LIMIT

NAME = Conversion(InstanceName, pb.InstanceName)
ID = Conversion(DeadLetterId, pb.DeadLetterId)
PART = Conversion(DeadPart, pb.DeadPart)
RESULT = Conversion(ItemResult, pb.ItemResult)
BACKLOG = Conversion(Backlog, pb.Backlog)
COOLDOWN = Conversion(Cooldown, pb.Cooldown)
COUNTS = Conversion(Counts, pb.Counts)
FIGURES = Conversion(Figures, pb.Figures)
FIGURE = Conversion(Figure, pb.Figure)
FINDING = Conversion(Finding, pb.Finding)


def limit_of(request: pb.ListDeadLettersRequest | pb.ListInstanceHealthRequest) -> int:
    return request.limit if request.HasField("limit") else DEFAULT_LIMIT


def instance_of(request: pb.ListDeadLettersRequest | pb.GetFiguresRequest) -> int | None:
    return request.instance_id if request.HasField("instance_id") else None


def direction_of(request: pb.ListDeadLettersRequest) -> Direction | None:
    """Raises `Invalid`."""
    return parse_direction(request.direction)


def dead_letter_to_pb(dead_letter: DeadLetter) -> pb.DeadLetter:
    return pb.DeadLetter(
        instance=NAME.to_pb(dead_letter.instance), message=message_to_pb(dead_letter.message)
    )


def dead_letter_from_pb(message: pb.DeadLetter) -> DeadLetter:
    return DeadLetter(NAME.from_pb(message.instance), message_from_pb(message.message))


def dead_letters_to_pb(page: DeadLetterPage) -> pb.ListDeadLettersResponse:
    return pb.ListDeadLettersResponse(dead_letters=map(dead_letter_to_pb, page.dead_letters), next=page.next)


def dead_letters_from_pb(message: pb.ListDeadLettersResponse) -> DeadLetterPage:
    following = message.next if message.HasField("next") else None
    return DeadLetterPage([dead_letter_from_pb(each) for each in message.dead_letters], following)


def view_to_pb(view: DeadLetterView) -> pb.GetDeadLetterResponse:
    return pb.GetDeadLetterResponse(
        dead_letter=dead_letter_to_pb(view.dead_letter), parts=map(PART.to_pb, view.parts)
    )


def view_from_pb(message: pb.GetDeadLetterResponse) -> DeadLetterView:
    return DeadLetterView(
        dead_letter_from_pb(message.dead_letter), [PART.from_pb(part) for part in message.parts]
    )


def ids_to_pb(ids: Sequence[DeadLetterId]) -> pb.DeadLetterIds:
    return pb.DeadLetterIds(items=map(ID.to_pb, ids))


def ids_from_pb(message: pb.DeadLetterIds) -> Sequence[DeadLetterId]:
    return [ID.from_pb(item) for item in message.items]


def results_to_pb(results: Sequence[ItemResult]) -> pb.DeadLetterResults:
    return pb.DeadLetterResults(results=map(RESULT.to_pb, results))


def results_from_pb(message: pb.DeadLetterResults) -> Sequence[ItemResult]:
    return [RESULT.from_pb(result) for result in message.results]


def health_page_to_pb(page: HealthPage) -> pb.ListInstanceHealthResponse:
    return pb.ListInstanceHealthResponse(instances=map(_state_to_pb, page.instances), next=page.next)


def health_page_from_pb(message: pb.ListInstanceHealthResponse) -> HealthPage:
    following = message.next if message.HasField("next") else None
    return HealthPage([_state_from_pb(state) for state in message.instances], following)


def _state_to_pb(state: InstanceState) -> pb.InstanceState:
    return pb.InstanceState(
        instance=NAME.to_pb(state.instance),
        health=health_to_pb(state.health),
        backlog=BACKLOG.to_pb(state.backlog),
        cooldown=COOLDOWN.to_pb(state.cooldown),
    )


def _state_from_pb(message: pb.InstanceState) -> InstanceState:
    return InstanceState(
        NAME.from_pb(message.instance),
        health_from_pb(message.health),
        BACKLOG.from_pb(message.backlog),
        COOLDOWN.from_pb(message.cooldown),
    )


def figures_to_pb(figures: Figures) -> pb.Figures:
    points = [FIGURE.to_pb(point, counts=COUNTS.to_pb(point.counts)) for point in figures.points]
    return FIGURES.to_pb(figures, total=COUNTS.to_pb(figures.total), points=points)


def figures_from_pb(message: pb.Figures) -> Figures:
    points = [FIGURE.from_pb(point, counts=COUNTS.from_pb(point.counts)) for point in message.points]
    return FIGURES.from_pb(
        message, period=Period(message.period), total=COUNTS.from_pb(message.total), points=points
    )
