"""Raw calls and answers of platforms to protobuf and back."""

from __future__ import annotations

from switchboard.channels.v1 import callbacks_pb2 as pb

from domain.channels.messages import RawAnswer, RawCall


def call_to_pb(channel_id: str, instance_id: int, call: RawCall) -> pb.RawCall:
    return pb.RawCall(
        request_id=call.id,
        channel_id=channel_id,
        instance_id=instance_id,
        method=call.method,
        callback=call.callback,
        url=call.url,
        headers=call.headers,
        body=call.body,
    )


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
    return pb.RawAnswer(status=answer.status, headers=answer.headers, body=answer.body)


def answer_from_pb(message: pb.RawAnswer) -> RawAnswer:
    return RawAnswer(message.status, message.body, dict(message.headers))
