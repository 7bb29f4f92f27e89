from domain.access.model import Caller, Role
from domain.instances.model import Activity, NewInstance
from domain.subscriptions.model import SubscriptionFields
from tests.drivers.served import ServedWorld

ADMIN = Caller("admin", Role.ADMIN)
PUSHES = """
INSERT INTO outbox (instance_id, session_key, message, target, key, status, attempts, last_error, ref)
SELECT %(id)s, '', '{"event": 41}', '{}', n::text, (n %% 3)::int, n, CASE n %% 3 WHEN 1 THEN NULL ELSE
    'HTTP 503: the receiver is being set up' END, CASE n %% 3 WHEN 1 THEN '204' END
FROM generate_series(0, 8) n
"""
EVENT = "INSERT INTO event_log (id, kind) VALUES (41, 'message.received')"
FAILED = "polling: the mail server refused the password"
WEEKDAYS = {"cronSchedule": "0 9 * * 1-5", "message": "Write the report.", "timezone": "Europe/Berlin"}
MAILBOX = {
    "imapHost": "127.0.0.1",
    "imapPort": 1,
    "smtpHost": "127.0.0.1",
    "smtpPort": 1,
    "username": "ann",
    "password": "secret",
    "fromEmail": "ann@example.com",
}


def pages(world: ServedWorld) -> list[str]:
    subscription_id = world.run(_made(world))
    return [
        "/console/schedules",
        "/console/resources",
        "/console/subscriptions",
        "/console/subscriptions/new",
        f"/console/subscriptions/{subscription_id}",
        f"/console/subscriptions/{subscription_id}/edit",
    ]


async def _made(world: ServedWorld) -> int:
    services, database = world.container.use_cases(), world.container.database()
    created = [("cron", "Morning report", WEEKDAYS), ("cron", "Paused", {**WEEKDAYS, "enabled": False})]
    for channel_id, name, config in created:
        await services.instances.create(ADMIN, NewInstance(channel_id, name, config, "agent::echo"))
    mailbox = await services.instances.create(
        ADMIN, NewInstance("email", "Support mail", MAILBOX, "agent::echo")
    )
    health = world.container.storage().health
    await health.failed(mailbox.instance_id, Activity.RECEIVING, FAILED)
    await database.execute(EVENT)
    fields = SubscriptionFields("http://127.0.0.1:9/events", ("message.received", "delivery.dead"))
    subscription_id = (await services.subscriptions.create(ADMIN, fields)).subscription.id
    await database.execute(PUSHES, {"id": subscription_id})
    return subscription_id
