"""Downstream runs to protobuf."""

from dataclasses import replace

from google.protobuf.json_format import ParseDict
from switchboard.downstream.v1 import runner_pb2

from adapters.rpc.messages import to_message
from domain.routing.model import RunRequest


def run_request_to_pb(request: RunRequest) -> runner_pb2.RunRequest:
    """The request as it goes to a `ResourceRunner`; the owner stays inside."""
    message = to_message(replace(request, context={}), runner_pb2.RunRequest)
    message.ClearField("context")
    if request.context:
        ParseDict(dict(request.context), message.context)
    return message
