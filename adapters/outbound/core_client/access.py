"""Credentials, sessions and API keys of a remote core. The caller crosses as its credential, not as a name."""

from switchboard.access.v1 import access_pb2 as pb
from switchboard.access.v1 import access_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection, carry
from adapters.wire import keys as convert
from domain.access.model import Caller, CreatedKey, KeyPage, NewKey, Session


class RemoteAccess:
    """`ports.use_cases.Access` and `Sessions`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = access_pb2_grpc.AccessServiceStub(core.channel)

    async def authenticate(self, token: str, acting_for: str | None = None) -> Caller:
        carry(token, acting_for)
        return await self._who()

    async def authenticate_session(self, token: str) -> Caller:
        carry(token, None, is_session=True)
        return await self._who()

    async def _who(self) -> Caller:
        return convert.CALLER.from_pb(await self._core.call(self._stub.WhoAmI, pb.WhoAmIRequest()))

    async def sign_in(self, credential: str, address: str) -> Session:
        request = pb.SignInRequest(credential=credential, address=address)
        answer = await self._core.call(self._stub.SignIn, request, metadata=self._core.as_gateway())
        return convert.SESSION.from_pb(answer)

    async def sign_out(self, token: str) -> None:
        await self._core.call(self._stub.SignOut, pb.SignOutRequest(token=token))


class RemoteKeys:
    """`ports.keys.Keys`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = access_pb2_grpc.KeyServiceStub(core.channel)

    async def create(self, caller: Caller, new: NewKey) -> CreatedKey:
        answer = await self._core.call(self._stub.CreateKey, convert.NEW.to_pb(new))
        return convert.created_from_pb(answer)

    async def list(self, caller: Caller, kind: str, cursor: int, limit: int) -> KeyPage:
        request = pb.ListKeysRequest(kind=kind, cursor=cursor, limit=limit)
        return convert.page_from_pb(await self._core.call(self._stub.ListKeys, request))

    async def revoke(self, caller: Caller, key_id: int) -> None:
        await self._core.call(self._stub.RevokeKey, pb.RevokeKeyRequest(key_id=key_id))
