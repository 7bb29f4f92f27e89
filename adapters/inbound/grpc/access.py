"""Who calls, sessions and API keys over gRPC."""

from typing import Any

from switchboard.access.v1 import access_pb2 as pb
from switchboard.access.v1 import access_pb2_grpc

from adapters.inbound.grpc.interceptors import caller, peer
from adapters.wire import keys as convert
from adapters.wire.pages import limit_of
from domain.access.model import KeyKind
from ports.keys import Keys, Sessions


class AccessServicer(access_pb2_grpc.AccessServiceServicer):
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def WhoAmI(self, request: pb.WhoAmIRequest, context: Any) -> pb.WhoAmIResponse:
        return convert.CALLER.to_pb(caller())

    async def SignIn(self, request: pb.SignInRequest, context: Any) -> pb.SignInResponse:
        address = peer().on_behalf_of(request.address).address
        return convert.SESSION.to_pb(await self._sessions.sign_in(request.credential, address))

    async def SignOut(self, request: pb.SignOutRequest, context: Any) -> pb.SignOutResponse:
        await self._sessions.sign_out(request.token)
        return pb.SignOutResponse()


class KeyServicer(access_pb2_grpc.KeyServiceServicer):
    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def CreateKey(self, request: pb.CreateKeyRequest, context: Any) -> pb.CreateKeyResponse:
        return convert.created_to_pb(await self._keys.create(caller(), convert.new_from_pb(request)))

    async def ListKeys(self, request: pb.ListKeysRequest, context: Any) -> pb.ListKeysResponse:
        kind, limit = request.kind or KeyKind.KEY, limit_of(request.limit)
        return convert.page_to_pb(await self._keys.list(caller(), kind, request.cursor, limit))

    async def RevokeKey(self, request: pb.RevokeKeyRequest, context: Any) -> pb.RevokeKeyResponse:
        await self._keys.revoke(caller(), request.key_id)
        return pb.RevokeKeyResponse()
