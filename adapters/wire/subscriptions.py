"""Subscriptions and their pushes to protobuf and back."""

from switchboard.events.v1 import subscriptions_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.instances.model import ActivityHealth
from domain.subscriptions.model import (
    Push,
    PushPage,
    PushTest,
    Subscription,
    SubscriptionFields,
    SubscriptionPage,
    SubscriptionView,
)

SUBSCRIPTION = Conversion(Subscription, pb.Subscription)
PUSH = Conversion(Push, pb.Push)
TEST = Conversion(PushTest, pb.TestSubscriptionResponse)
SENDING = Conversion(ActivityHealth, pb.SubscriptionView)


def view_to_pb(view: SubscriptionView) -> pb.SubscriptionView:
    return SENDING.to_pb(
        view.sending,
        subscription=SUBSCRIPTION.to_pb(view.subscription),
        pending=view.pending,
        dead=view.dead,
        secret=view.secret,
    )


def view_from_pb(message: pb.SubscriptionView) -> SubscriptionView:
    secret = message.secret if message.HasField("secret") else None
    subscription = SUBSCRIPTION.from_pb(message.subscription)
    return SubscriptionView(subscription, SENDING.from_pb(message), message.pending, message.dead, secret)


def fields_to_pb(fields: SubscriptionFields) -> pb.SubscriptionFields:
    return pb.SubscriptionFields(
        url=fields.url,
        kinds=None if fields.kinds is None else pb.TextList(values=fields.kinds),
        instance_ids=None if fields.instance_ids is None else pb.IdList(values=fields.instance_ids),
        secret=fields.secret,
        status=fields.status,
    )


def fields_from_pb(message: pb.SubscriptionFields) -> SubscriptionFields:
    return SubscriptionFields(
        message.url if message.HasField("url") else None,
        tuple(message.kinds.values) if message.HasField("kinds") else None,
        tuple(message.instance_ids.values) if message.HasField("instance_ids") else None,
        message.secret if message.HasField("secret") else None,
        message.status if message.HasField("status") else None,
    )


def page_to_pb(page: SubscriptionPage) -> pb.ListSubscriptionsResponse:
    return pb.ListSubscriptionsResponse(
        subscriptions=map(SUBSCRIPTION.to_pb, page.subscriptions), next=page.next
    )


def page_from_pb(message: pb.ListSubscriptionsResponse) -> SubscriptionPage:
    following = message.next if message.HasField("next") else None
    return SubscriptionPage([SUBSCRIPTION.from_pb(each) for each in message.subscriptions], following)


def pushes_to_pb(page: PushPage) -> pb.ListPushesResponse:
    return pb.ListPushesResponse(pushes=map(PUSH.to_pb, page.pushes), next=page.next)


def pushes_from_pb(message: pb.ListPushesResponse) -> PushPage:
    following = message.next if message.HasField("next") else None
    return PushPage([PUSH.from_pb(push) for push in message.pushes], following)
