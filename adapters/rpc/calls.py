"""Raw calls and answers of platforms to protobuf and back."""

from switchboard.channels.v1 import callbacks_pb2 as pb

from domain.channels.messages import RawAnswer, RawCall


def call_into_pb(channel_id: str, instance_id: int, call: RawCall, message: pb.RawCall) -> None:
    """Fills a message that lies in a batch already: what is handed to a constructor would be copied."""
    message.request_id = call.id
    message.channel_id = channel_id
    message.instance_id = instance_id
    message.method = call.method
    message.callback = call.callback
    message.url = call.url
    message.headers.update(call.headers)
    message.body = call.body


def call_from_pb(message: pb.RawCall) -> RawCall:
    return RawCall(
        id=message.request_id,
        method=message.method,
        callback=message.callback,
        url=message.url,
        headers={name.lower(): value for name, value in message.headers.items()},
        body=message.body,
    )


def answer_to_pb(answer: RawAnswer) -> pb.RawAnswer:
    message = pb.RawAnswer()
    answer_into_pb(answer, message)
    return message


def answer_into_pb(answer: RawAnswer, message: pb.RawAnswer) -> None:
    """The same into a message that lies in a batch already."""
    message.status = answer.status
    message.body = answer.body
    if answer.headers:
        message.headers.update(answer.headers)


def answer_from_pb(message: pb.RawAnswer) -> RawAnswer:
    return RawAnswer(message.status, message.body, dict(message.headers))
