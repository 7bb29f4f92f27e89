"""Messages of conversations to protobuf and back."""

from collections.abc import Sequence

from switchboard.channels.v1 import messages_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.channels.answers import Artifact, Choice, Template
from domain.conversations.model import Message, NewFile, NewMessage, QueuedSend, Step, Timeline

CHOICE = Conversion(Choice, pb.MessageChoice)
TEMPLATE = Conversion(Template, pb.MessageTemplate)
NEW = Conversion(NewMessage, pb.SendMessageRequest)
NEW_FILE = Conversion(NewFile, pb.FileToSend)
QUEUED = Conversion(QueuedSend, pb.SendMessageResponse)
MESSAGE = Conversion(Message, pb.Message)
FILE = Conversion(Artifact, pb.MessageFile)
TIMELINE = Conversion(Timeline, pb.Timeline)
STEP = Conversion(Step, pb.TimelineStep)


def new_to_pb(message: NewMessage, instance_id: int, idempotency_key: str | None) -> pb.SendMessageRequest:
    return NEW.to_pb(
        message,
        instance_id=instance_id,
        idempotency_key=idempotency_key,
        files=map(NEW_FILE.to_pb, message.files),
        choices=map(CHOICE.to_pb, message.choices),
        template=message.template and TEMPLATE.to_pb(message.template),
    )


def new_from_pb(request: pb.SendMessageRequest) -> NewMessage:
    return NEW.from_pb(
        request,
        files=tuple(map(NEW_FILE.from_pb, request.files)),
        choices=tuple(map(CHOICE.from_pb, request.choices)),
        template=TEMPLATE.from_pb(request.template) if request.HasField("template") else None,
        take_over=request.take_over if request.HasField("take_over") else True,
    )


def message_to_pb(message: Message) -> pb.Message:
    return MESSAGE.to_pb(message, files=map(FILE.to_pb, message.files))


def message_from_pb(message: pb.Message) -> Message:
    return MESSAGE.from_pb(message, files=tuple(map(FILE.from_pb, message.files)))


def timelines_to_pb(timelines: Sequence[Timeline]) -> pb.ListTimelinesResponse:
    return pb.ListTimelinesResponse(
        timelines=[TIMELINE.to_pb(each, steps=map(STEP.to_pb, each.steps)) for each in timelines]
    )


def timelines_from_pb(message: pb.ListTimelinesResponse) -> list[Timeline]:
    return [TIMELINE.from_pb(each, steps=[*map(STEP.from_pb, each.steps)]) for each in message.timelines]
