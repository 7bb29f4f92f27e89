"""Which answers of platforms pass by themselves, also where the status says nothing of it."""

import json
from typing import Any

import pytest

from adapters.outbound.channels.bot_messenger.api import outcome as telegram
from adapters.outbound.channels.business_messaging.api import outcome as whatsapp
from adapters.outbound.channels.enterprise_chat.connector import outcome as teams
from adapters.outbound.channels.enterprise_chat.delivery import outcome as teams_webhook
from adapters.outbound.channels.erp_events.rpc import is_transient
from adapters.outbound.channels.gaming_chat.api import result as discord
from adapters.outbound.channels.sms_provider.channel import outcome as twilio
from adapters.outbound.channels.workspace_chat.api import outcome as slack
from adapters.outbound.net.google import is_rate_limit
from domain.channels.messages import Outcome
from ports.http import HttpAnswer


def answer(status: int, body: Any) -> HttpAnswer:
    return HttpAnswer(status, {}, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("psycopg2.pool.PoolError", "The Connection Pool Is Full"),
        ("odoo.sql_db.PoolError", "The Connection Pool Is Full"),
        ("psycopg2.errors.LockNotAvailable", "could not obtain lock on row in relation"),
        ("psycopg2.errors.DeadlockDetected", "deadlock detected"),
        ("psycopg2.errors.SerializationFailure", "could not serialize access due to concurrent update"),
        ("psycopg2.extensions.TransactionRollbackError", "could not serialize access"),
        ("psycopg2.errors.QueryCanceled", "canceling statement due to statement timeout"),
        ("psycopg2.extensions.QueryCanceledError", "canceling statement due to user request"),
        ("psycopg2.errors.AdminShutdown", "terminating connection due to administrator command"),
        ("psycopg2.OperationalError", "FATAL: sorry, too many clients already"),
        ("psycopg2.InterfaceError", "connection already closed"),
        ("odoo.exceptions.LockError", "The record is locked."),
        ("odoo.exceptions.UserError", "could not obtain lock on row in relation res_partner"),
        ("builtins.Exception", "The Connection Pool Is Full"),
        ("", "deadlock detected"),
        ("psycopg2.InternalError", "current transaction is aborted, commands ignored until its end"),
        ("builtins.OSError", "[Errno 24] Too many open files"),
        ("builtins.OSError", "[Errno 28] No space left on device"),
        ("odoo.http.SessionExpiredException", "Session expired"),
        ("", "Odoo Session Expired"),
        ("psycopg2.DatabaseError", "SSL SYSCALL error: EOF detected"),
        ("psycopg2.ProgrammingError", "cursor already closed"),
        ("psycopg2.DatabaseError", "out of shared memory\nHINT: You might need to increase max_locks"),
        ("http.client.RemoteDisconnected", "Remote end closed connection without response"),
        (
            "odoo.exceptions.UserError",
            "The record cannot be changed right now. Please try again in a few minutes",
        ),
        ("werkzeug.exceptions.HTTPException", "503 Service Unavailable"),
    ],
)
def test_busy_databases_of_odoo_pass(name: str, message: str) -> None:
    assert is_transient(name, message)


TRACEBACK = """Traceback (most recent call last):
  File "odoo/sql_db.py", line 332, in execute
    res = self._obj.execute(query, params)
{cause}
"""


@pytest.mark.parametrize(
    "cause",
    [
        "psycopg2.errors.DeadlockDetected: deadlock detected\nDETAIL: Process 7 waits",
        "psycopg2.pool.PoolError: The Connection Pool Is Full",
        "psycopg2.errors.LockNotAvailable: no lock\n\nDuring handling\n\nodoo.exceptions.UserError: It is busy.",
    ],
)
def test_the_cause_of_an_error_of_odoo_may_stand_in_its_traceback(cause: str) -> None:
    assert is_transient("builtins.Exception", "Odoo Server Error", TRACEBACK.format(cause=cause))
    assert not is_transient("odoo.exceptions.MissingError", "Record is gone.", TRACEBACK.format(cause=cause))
    harmless = TRACEBACK.format(cause="KeyError: 'name'").replace("self._obj", "self.timeout")
    assert not is_transient("builtins.KeyError", "'name'", harmless)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("odoo.exceptions.AccessError", "You are not allowed to modify 'Contact' records."),
        ("odoo.exceptions.MissingError", "Record does not exist or has been deleted."),
        ("odoo.exceptions.ValidationError", "could not obtain lock: a text of somebody's own"),
        ("odoo.exceptions.AccessDenied", "Access Denied"),
        ("odoo.exceptions.UserError", "Unable to send message, please configure the sender's email address."),
        ("psycopg2.OperationalError", 'FATAL: database "workshop" does not exist'),
        ("builtins.KeyError", "Object x.missing doesn't exist"),
        ("psycopg2.errors.UndefinedColumn", "column res_partner.x does not exist"),
    ],
)
def test_what_odoo_refuses_for_good_stays_permanent(name: str, message: str) -> None:
    assert not is_transient(name, message)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("ratelimited", Outcome.RETRY_AFTER),
        ("rate_limited", Outcome.RETRY_AFTER),
        ("internal_error", Outcome.TRANSIENT),
        ("fatal_error", Outcome.TRANSIENT),
        ("service_unavailable", Outcome.TRANSIENT),
        ("request_timeout", Outcome.TRANSIENT),
        ("external_channel_migrating", Outcome.TRANSIENT),
        ("org_login_required", Outcome.TRANSIENT),
        ("channel_not_found", Outcome.PERMANENT),
        ("invalid_auth", Outcome.PERMANENT),
    ],
)
def test_slack_says_with_status_200_what_passes(error: str, expected: Outcome) -> None:
    assert slack(answer(200, {"ok": False, "error": error})).outcome is expected


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (200, "Webhook message delivery failed with error: ... HTTP error 429 with ContextId", "retry_after"),
        (200, "Microsoft Teams endpoint returned HTTP error 503", "transient"),
        (200, "Webhook message delivery failed", "transient"),
        (200, "Microsoft Teams endpoint returned HTTP error 403", "permanent"),
        (200, "1", "sent"),
    ],
)
def test_teams_webhooks_say_with_status_200_what_passes(status: int, text: str, expected: str) -> None:
    assert teams_webhook(HttpAnswer(status, {}, text.encode())).outcome == expected


@pytest.mark.parametrize(("status", "expected"), [(412, Outcome.TRANSIENT), (403, Outcome.PERMANENT)])
def test_activities_that_met_are_sent_again_on_teams(status: int, expected: Outcome) -> None:
    assert teams(answer(status, {"error": {"code": "PreconditionFailed"}})).outcome is expected


@pytest.mark.parametrize(
    "error",
    [
        {"errors": [{"reason": "rateLimitExceeded"}]},
        {"errors": [{"reason": "userRateLimitExceeded"}]},
        {"errors": [{"reason": "sharingRateLimitExceeded"}]},
        {"details": [{"reason": "RATE_LIMIT_EXCEEDED"}]},
        {"status": "RESOURCE_EXHAUSTED"},
    ],
)
def test_google_says_with_status_403_that_it_wants_patience(error: dict[str, Any]) -> None:
    assert is_rate_limit(answer(403, {"error": error}))
    assert not is_rate_limit(answer(403, {"error": {"errors": [{"reason": "insufficientPermissions"}]}}))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": 130429}, Outcome.RETRY_AFTER),
        ({"code": 613}, Outcome.RETRY_AFTER),
        ({"code": 131016}, Outcome.TRANSIENT),
        ({"code": 131057}, Outcome.TRANSIENT),
        ({"code": 5, "is_transient": True}, Outcome.TRANSIENT),
        ({"code": 190}, Outcome.PERMANENT),
    ],
)
def test_whatsapp_says_by_its_code_what_passes(error: dict[str, Any], expected: Outcome) -> None:
    assert whatsapp(answer(400, {"error": error})).outcome is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (20429, Outcome.RETRY_AFTER),
        (20500, Outcome.TRANSIENT),
        (20503, Outcome.TRANSIENT),
        (21211, Outcome.PERMANENT),
    ],
)
def test_twilio_says_by_its_code_what_passes(code: int, expected: Outcome) -> None:
    assert twilio(answer(400, {"code": code, "message": "words"})).outcome is expected


def test_an_overloaded_discord_is_tried_again() -> None:
    assert discord(answer(400, {"code": 130000})).sent.outcome is Outcome.TRANSIENT
    assert discord(answer(400, {"code": 50035})).sent.outcome is Outcome.PERMANENT


@pytest.mark.parametrize(
    ("code", "expected"),
    [(429, Outcome.RETRY_AFTER), (502, Outcome.TRANSIENT), (403, Outcome.PERMANENT)],
)
def test_telegram_behind_a_proxy_says_the_status_in_the_body(code: int, expected: Outcome) -> None:
    body = {"ok": False, "error_code": code, "description": "words"}
    assert telegram(answer(200, body), "words").sent.outcome is expected
