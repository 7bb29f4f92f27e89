"""API keys and sessions to protobuf and back."""

from switchboard.access.v1 import access_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.access.model import ApiKey, Caller, CreatedKey, KeyPage, NewKey, Role, Session
from domain.refusals import Fault, Invalid

KEY = Conversion(ApiKey, pb.Key)
CALLER = Conversion(Caller, pb.WhoAmIResponse)
SESSION = Conversion(Session, pb.SignInResponse)
NEW = Conversion(NewKey, pb.CreateKeyRequest)


def new_from_pb(message: pb.CreateKeyRequest) -> NewKey:
    """Raises `Invalid`."""
    if message.role not in ("", *Role):
        raise Invalid.of([Fault("role", f"must be one of {', '.join(Role)}")])
    return NEW.from_pb(message, role=Role(message.role or Role.USER))


def created_to_pb(created: CreatedKey) -> pb.CreateKeyResponse:
    return pb.CreateKeyResponse(key=KEY.to_pb(created.key), token=created.token)


def created_from_pb(message: pb.CreateKeyResponse) -> CreatedKey:
    return CreatedKey(KEY.from_pb(message.key), message.token)


def page_to_pb(page: KeyPage) -> pb.ListKeysResponse:
    return pb.ListKeysResponse(keys=map(KEY.to_pb, page.keys), next=page.next)


def page_from_pb(message: pb.ListKeysResponse) -> KeyPage:
    following = message.next if message.HasField("next") else None
    return KeyPage([KEY.from_pb(key) for key in message.keys], following)
