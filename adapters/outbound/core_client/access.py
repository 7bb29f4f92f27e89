"""Credentials at a remote core. The caller crosses as its credential, not as a name."""

from switchboard.access.v1 import access_pb2 as pb
from switchboard.access.v1 import access_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection, carry
from adapters.rpc.messages import to_value
from domain.access.model import Caller


class RemoteAccess:
    """`ports.use_cases.Access`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = access_pb2_grpc.AccessServiceStub(core.channel)

    async def authenticate(self, token: str, acting_for: str | None = None) -> Caller:
        carry(token, acting_for)
        return to_value(await self._core.call(self._stub.WhoAmI, pb.WhoAmIRequest()), Caller)

    async def authenticate_session(self, token: str) -> Caller:
        carry(token, None, is_session=True)
        return to_value(await self._core.call(self._stub.WhoAmI, pb.WhoAmIRequest()), Caller)
