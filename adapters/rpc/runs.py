"""Downstream runs: domain to protobuf and back."""

from collections.abc import Sequence

from google.protobuf.json_format import ParseDict
from switchboard.downstream.v1 import runner_pb2

from adapters.rpc.messages import to_us
from domain.routing.model import Approval, InputFile, RunRequest


def run_request_to_pb(request: RunRequest) -> runner_pb2.RunRequest:
    """The request as it goes to a `ResourceRunner`; the owner stays inside."""
    resource, sender = request.resource, request.sender
    message = runner_pb2.RunRequest(
        resource=runner_pb2.Resource(
            kind=str(resource.kind), id=resource.id, expert_index=resource.expert_index
        ),
        request_id=request.request_id,
        instance_id=request.instance_id,
        channel_id=request.channel_id,
        session_id=request.session_id,
        sender=runner_pb2.Sender(
            external_id=sender.external_id,
            display_name=sender.display_name,
            user_id=sender.user_id,
            verified_by=sender.verified_by,
        ),
        text=request.text,
        files=_files(request.files),
        approved_tools=request.approved_tools,
        thread=[
            runner_pb2.ThreadMessage(text=earlier.text, author=earlier.author, at_us=to_us(earlier.at))
            for earlier in request.thread
        ],
        choice=request.choice,
        reaction=request.reaction,
        approval=_approval(request.approval),
    )
    if (quoted := request.quoted) is not None:
        message.quoted.CopyFrom(
            runner_pb2.Quoted(text=quoted.text, author=quoted.author, files=_files(quoted.files))
        )
    if request.context:
        ParseDict(dict(request.context), message.context)
    return message


def _approval(approval: Approval | None) -> runner_pb2.Approval | None:
    if approval is None:
        return None
    return runner_pb2.Approval(
        confirmation_id=approval.confirmation_id, tool=approval.tool, decision=approval.decision
    )


def _files(files: Sequence[InputFile]) -> list[runner_pb2.InputFile]:
    return [
        runner_pb2.InputFile(name=file.name, mime_type=file.mime_type, size=file.size, url=file.url)
        for file in files
    ]
