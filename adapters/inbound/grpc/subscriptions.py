"""Subscriptions to events over gRPC."""

from typing import Any

from switchboard.events.v1 import subscriptions_pb2 as pb
from switchboard.events.v1 import subscriptions_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import subscriptions as convert
from adapters.wire.pages import limit_of
from ports.subscriptions import PushLog, Subscriptions


class SubscriptionServicer(subscriptions_pb2_grpc.SubscriptionServiceServicer):
    def __init__(self, subscriptions: Subscriptions, pushes: PushLog) -> None:
        self._subscriptions = subscriptions
        self._pushes = pushes

    async def CreateSubscription(self, request: pb.SubscriptionFields, context: Any) -> pb.SubscriptionView:
        fields = convert.fields_from_pb(request)
        return convert.view_to_pb(await self._subscriptions.create(caller(), fields))

    async def ListSubscriptions(
        self, request: pb.ListSubscriptionsRequest, context: Any
    ) -> pb.ListSubscriptionsResponse:
        limit = limit_of(request.limit)
        return convert.page_to_pb(await self._subscriptions.list(caller(), request.cursor, limit))

    async def GetSubscription(self, request: pb.SubscriptionRequest, context: Any) -> pb.SubscriptionView:
        return convert.view_to_pb(await self._subscriptions.get(caller(), request.subscription_id))

    async def ChangeSubscription(
        self, request: pb.ChangeSubscriptionRequest, context: Any
    ) -> pb.SubscriptionView:
        fields = convert.fields_from_pb(request.fields)
        view = await self._subscriptions.change(caller(), request.subscription_id, fields)
        return convert.view_to_pb(view)

    async def DeleteSubscription(
        self, request: pb.SubscriptionRequest, context: Any
    ) -> pb.DeleteSubscriptionResponse:
        await self._subscriptions.remove(caller(), request.subscription_id)
        return pb.DeleteSubscriptionResponse()

    async def TestSubscription(
        self, request: pb.SubscriptionRequest, context: Any
    ) -> pb.TestSubscriptionResponse:
        return convert.TEST.to_pb(await self._subscriptions.test(caller(), request.subscription_id))

    async def ListPushes(self, request: pb.ListPushesRequest, context: Any) -> pb.ListPushesResponse:
        status, limit = request.status or None, limit_of(request.limit)
        page = await self._pushes.pushes(caller(), request.subscription_id, status, request.cursor, limit)
        return convert.pushes_to_pb(page)

    async def ReplayPush(self, request: pb.ReplayPushRequest, context: Any) -> pb.ReplayPushResponse:
        await self._pushes.replay(caller(), request.subscription_id, request.push_id)
        return pb.ReplayPushResponse()
