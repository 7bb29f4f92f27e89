"""The subscriptions of a remote core."""

from switchboard.events.v1 import subscriptions_pb2 as pb
from switchboard.events.v1 import subscriptions_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import subscriptions as convert
from domain.access.model import Caller
from domain.subscriptions.model import (
    PushPage,
    PushTest,
    SubscriptionFields,
    SubscriptionPage,
    SubscriptionView,
)

SLOW = 40.0
"""Seconds for a trial push."""


class RemoteSubscriptions:
    """`ports.subscriptions.Subscriptions` and `PushLog`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = subscriptions_pb2_grpc.SubscriptionServiceStub(core.channel)

    async def create(self, caller: Caller, fields: SubscriptionFields) -> SubscriptionView:
        request = convert.fields_to_pb(fields)
        return convert.view_from_pb(await self._core.call(self._stub.CreateSubscription, request))

    async def list(self, caller: Caller, cursor: int, limit: int) -> SubscriptionPage:
        request = pb.ListSubscriptionsRequest(cursor=cursor, limit=limit)
        return convert.page_from_pb(await self._core.call(self._stub.ListSubscriptions, request))

    async def get(self, caller: Caller, subscription_id: int) -> SubscriptionView:
        request = pb.SubscriptionRequest(subscription_id=subscription_id)
        return convert.view_from_pb(await self._core.call(self._stub.GetSubscription, request))

    async def change(
        self, caller: Caller, subscription_id: int, fields: SubscriptionFields
    ) -> SubscriptionView:
        request = pb.ChangeSubscriptionRequest(
            subscription_id=subscription_id, fields=convert.fields_to_pb(fields)
        )
        return convert.view_from_pb(await self._core.call(self._stub.ChangeSubscription, request))

    async def remove(self, caller: Caller, subscription_id: int) -> None:
        request = pb.SubscriptionRequest(subscription_id=subscription_id)
        await self._core.call(self._stub.DeleteSubscription, request)

    async def test(self, caller: Caller, subscription_id: int) -> PushTest:
        request = pb.SubscriptionRequest(subscription_id=subscription_id)
        answer = await self._core.call(self._stub.TestSubscription, request, deadline=SLOW)
        return convert.TEST.from_pb(answer)

    async def pushes(
        self, caller: Caller, subscription_id: int, status: str | None, cursor: int, limit: int
    ) -> PushPage:
        request = pb.ListPushesRequest(
            subscription_id=subscription_id, status=status or "", cursor=cursor, limit=limit
        )
        return convert.pushes_from_pb(await self._core.call(self._stub.ListPushes, request))

    async def replay(self, caller: Caller, subscription_id: int, push_id: int) -> None:
        request = pb.ReplayPushRequest(subscription_id=subscription_id, push_id=push_id)
        await self._core.call(self._stub.ReplayPush, request)
