"""Who calls, and sessions, over gRPC."""

from typing import Any

from switchboard.access.v1 import access_pb2 as pb

from adapters.inbound.grpc.interceptors import caller, peer
from adapters.rpc.messages import to_message
from ports.access import Sessions


class AccessServicer:
    """The methods of AccessService that need more of a call than its request."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def WhoAmI(self, request: pb.WhoAmIRequest, context: Any) -> pb.WhoAmIResponse:
        return to_message(caller(), pb.WhoAmIResponse)

    async def SignIn(self, request: pb.SignInRequest, context: Any) -> pb.SignInResponse:
        address = peer().on_behalf_of(request.address).address
        return to_message(await self._sessions.sign_in(request.credential, address), pb.SignInResponse)
