"""Sends notifications by mail and by message."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.access.model import Caller
from domain.access.sharing import InstanceLevel
from domain.channels.answers import Answer
from domain.confirmations.model import listed
from domain.confirmations.requests import ApprovalRequest, buttons
from domain.conversations.sending import SendingService
from domain.instances.lookup import permitted_instance
from domain.notifications.model import Delivery, DueDeliveries, Notification, NotificationKind, NotifyVia, Way
from domain.notifications.service import completed
from domain.notifications.texts import mail_of, message_of
from domain.refusals import Refusal, StorageAway, Unavailable
from ports.access import Mailer, MailFailed, UserStore
from ports.approvals import ApprovalStore
from ports.instances import InstanceStore
from ports.notifications import DeliveryStore
from ports.system import Clock

log = logging.getLogger(__name__)

MOST_AT_ONCE = 50
"""Notifications of one mail, and messages of one step."""
STEPS = 200
"""Mails, or groups of messages, of one run."""
MOST_TRIES = 8
"""With the pauses between them some seven hours: what cannot be sent in that time is given up."""


@dataclass(eq=False)
class NotificationDelivery:
    """`mailer`: None where no mail can be sent. `public_address`: where the console is."""

    store: DeliveryStore
    users: UserStore
    instances: InstanceStore
    sending: SendingService
    approvals: ApprovalStore
    mailer: Mailer | None
    clock: Clock
    public_address: str

    async def work(self) -> None:
        """Sends what is due. What fails is tried again at growing intervals. Raises `StorageAway`."""
        for _ in range(STEPS):
            due = await self.store.claim(self.clock.now(), MOST_AT_ONCE)
            if due is None:
                return
            await self._deliver(due)

    async def _deliver(self, due: DueDeliveries) -> None:
        now, hours = self.clock.now(), due.settings.hours
        deliveries = [
            delivery
            for delivery in due.deliveries
            if self._is_due(due, delivery) and await self._is_open(delivery.notification)
        ]
        await self._end(due, [delivery for delivery in due.deliveries if delivery not in deliveries])
        if not deliveries:
            return
        if hours and not hours.hold(now):
            await self.store.postpone(due.way, _ids(deliveries), hours.next_start(now))
            return
        send = self._send_mail if due.way is Way.MAIL else self._send_messages
        try:
            await send(due, deliveries)
        except StorageAway:
            raise
        except (MailFailed, Refusal) as failure:
            await self._failed(due, deliveries, failure)

    @staticmethod
    def _is_due(due: DueDeliveries, delivery: Delivery) -> bool:
        """What was read meanwhile, what the user does not want any more and what they may not see is not sent."""
        notification = delivery.notification
        is_wanted = due.way in due.settings.ways_of(notification.kind)
        return due.is_active and delivery.is_allowed and is_wanted and notification.read_at is None

    async def _is_open(self, notification: Notification) -> bool:
        """Return False for an approval that was decided meanwhile."""
        request = await self._approval(notification)
        return request is None or request.decision is None

    async def _approval(self, notification: Notification) -> ApprovalRequest | None:
        """The approval that a notification is about; None for one about anything else."""
        if notification.kind is not NotificationKind.APPROVAL or notification.confirmation_id is None:
            return None
        return await self.approvals.find(notification.confirmation_id)

    async def _send_mail(self, due: DueDeliveries, deliveries: Sequence[Delivery]) -> None:
        if self.mailer and due.email:
            mail = mail_of(self._completed(due, deliveries), due.settings.language)
            await self.mailer.send(due.email, mail.subject, mail.text)
        await self._end(due, deliveries)

    async def _send_messages(self, due: DueDeliveries, deliveries: Sequence[Delivery]) -> None:
        """Each message is stored once, by its key, also if it is tried again."""
        via = due.settings.notify_via
        user = await self.users.find(due.user_id)
        if via is None or user is None:
            await self._end(due, deliveries)
            return
        own = Caller(user.id, user.role)
        instance = await permitted_instance(self.instances, own, via.instance_id, InstanceLevel.ANSWER)
        for delivery, notification in zip(deliveries, self._completed(due, deliveries), strict=True):
            answer, key = await self._message(notification, user.id), _key(notification, via)
            await self.sending.forward(instance, via.to, answer, key)
            await self._end(due, [delivery])

    async def _message(self, notification: Notification, user_id: str) -> Answer:
        """The message, with buttons where the user can decide by them."""
        answer, request = Answer(message_of(notification)), await self._approval(notification)
        if request is None or request.decision is not None:
            return answer
        text = "\n".join([answer.text, *listed(request.parameters)])
        return replace(answer, text=text, choices=buttons(request, user_id))

    def _completed(self, due: DueDeliveries, deliveries: Sequence[Delivery]) -> Sequence[Notification]:
        language, address = due.settings.language, self.public_address
        return [completed(delivery.notification, language, address) for delivery in deliveries]

    async def _failed(
        self, due: DueDeliveries, deliveries: Sequence[Delivery], failure: MailFailed | Refusal
    ) -> None:
        """What the platform or the mail server refuses for good is given up at once."""
        is_for_good = (
            failure.refused if isinstance(failure, MailFailed) else not isinstance(failure, Unavailable)
        )
        given_up = [delivery for delivery in deliveries if is_for_good or delivery.attempts >= MOST_TRIES]
        await self._end(due, given_up)
        log.warning(
            "notifications of user %s were not sent by %s%s: %s",
            due.user_id, due.way, " and are given up" if given_up else "", failure,
        )  # fmt: skip

    async def _end(self, due: DueDeliveries, deliveries: Sequence[Delivery]) -> None:
        if deliveries:
            await self.store.end(due.way, _ids(deliveries))


def _ids(deliveries: Sequence[Delivery]) -> Sequence[int]:
    return [delivery.notification.id for delivery in deliveries]


def _key(notification: Notification, via: NotifyVia) -> str:
    return f"notification-{notification.id}-{via.instance_id}"
