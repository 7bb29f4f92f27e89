"""Refusals to gRPC status with google.rpc details, and back.

Source: https://google.aip.dev/193 (ErrorInfo, BadRequest, RetryInfo).
"""

from collections.abc import Mapping

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from domain import refusals

DOMAIN = "switchboard"
LONGEST_MESSAGE = 1500
"""Bytes of a refusal: it crosses as metadata, of which clients take 8 KB."""
LONGEST_IN_DETAIL = 800
"""Bytes of a refusal whose details cross beside it."""

CODES: Mapping[type[refusals.Refusal], int] = {
    refusals.Invalid: code_pb2.INVALID_ARGUMENT,
    refusals.Unauthenticated: code_pb2.UNAUTHENTICATED,
    refusals.Forbidden: code_pb2.PERMISSION_DENIED,
    refusals.NotFound: code_pb2.NOT_FOUND,
    refusals.Conflict: code_pb2.ALREADY_EXISTS,
    refusals.TooLarge: code_pb2.RESOURCE_EXHAUSTED,
    refusals.TooMany: code_pb2.RESOURCE_EXHAUSTED,
    refusals.Unsupported: code_pb2.INVALID_ARGUMENT,
    refusals.Unreadable: code_pb2.INVALID_ARGUMENT,
    refusals.NotBuilt: code_pb2.UNIMPLEMENTED,
    refusals.Unavailable: code_pb2.UNAVAILABLE,
}

BY_REASON: Mapping[str, type[refusals.Refusal]] = {kind.reason: kind for kind in CODES}

AWAY = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED})


def to_status(refusal: refusals.Refusal) -> status_pb2.Status:
    message = refusal.message.encode("utf-8", "replace")
    details = [_packed(error_details_pb2.ErrorInfo(reason=refusal.reason, domain=DOMAIN))]
    if isinstance(refusal, refusals.Invalid) and refusal.faults and len(message) <= LONGEST_IN_DETAIL:
        violations = [
            error_details_pb2.BadRequest.FieldViolation(field=fault.field, description=fault.message)
            for fault in refusal.faults
        ]
        details.append(_packed(error_details_pb2.BadRequest(field_violations=violations)))
    if isinstance(refusal, (refusals.TooMany, refusals.Unavailable)):
        delay = Duration()
        delay.FromMilliseconds(int(refusal.retry_after * 1000))
        details.append(_packed(error_details_pb2.RetryInfo(retry_delay=delay)))
    code = next((CODES[kind] for kind in type(refusal).__mro__ if kind in CODES), code_pb2.UNKNOWN)
    return status_pb2.Status(
        code=code, message=message[:LONGEST_MESSAGE].decode("utf-8", "ignore"), details=details
    )


def _packed(message) -> AnyMessage:  # type: ignore[no-untyped-def]
    packed = AnyMessage()
    packed.Pack(message)
    return packed


def from_error(error: grpc.aio.AioRpcError) -> refusals.Refusal | None:
    """The refusal that a call ended with; None when it failed in another way."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    if status is None:
        away = refusals.Unavailable("the core is away for the moment; try again shortly")
        return away if error.code() in AWAY else None
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    retry_after = 2.0
    for detail in status.details:
        if detail.Unpack(retry):
            retry_after = retry.retry_delay.ToMilliseconds() / 1000
        elif not detail.Unpack(info):
            detail.Unpack(bad)
    faults = [refusals.Fault(violation.field, violation.description) for violation in bad.field_violations]
    return rebuilt(info.reason, status.message, retry_after, faults)


def rebuilt(
    reason: str, message: str, retry_after: float = 2.0, faults: list[refusals.Fault] | None = None
) -> refusals.Refusal | None:
    """The refusal of that reason; None for a reason that nobody knows."""
    kind = BY_REASON.get(reason)
    if kind is None:
        return None
    if kind is refusals.Invalid:
        return refusals.Invalid(message, faults or ())
    if kind is refusals.TooMany:
        return refusals.TooMany(message, retry_after)
    if kind is refusals.Unavailable:
        return refusals.Unavailable(message, retry_after)
    return kind(message)
