"""The events of an instance's health: recorded with the note that makes it healthy or unhealthy."""

from adapters.outbound.storage.events.recording import LISTENED
from domain.events import EventKind

REGISTRATION = "registration"
"""The check whether the webhook is registered; the others are the activities."""


def log_health_sql(failing: str) -> str:
    """The CTEs that record whether a note on some checks of an instance changes its health. Primary keys.

    `failing`: a condition, whether the noted checks fail from now on. Parameters: `instance`; `checks`, the names of
    the noted checks; `reason`, why they fail. The first of several checks that fails makes the instance unhealthy,
    the last one that works again makes it healthy.
    """
    return f"""
checks AS (
    SELECT a.activity AS name, a.last_error_at > greatest(a.last_success_at, i.updated_at) AS failing
    FROM channel_instance i JOIN instance_activity a ON a.instance_id = i.id WHERE i.id = %(instance)s
    UNION ALL
    SELECT '{REGISTRATION}', webhook_error IS NOT NULL AND webhook_registered IS FALSE
    FROM instance_health WHERE instance_id = %(instance)s
), change AS (
    SELECT coalesce(bool_or(failing), false) AS before, ({failing})
        OR coalesce(bool_or(failing) FILTER (WHERE name <> ALL(%(checks)s::text[])), false) AS after FROM checks
), logged AS (
    INSERT INTO event_log (kind, instance_id, data)
    SELECT '{EventKind.INSTANCE_HEALTH}', i.id, json_build_object('healthy', NOT c.after,
        'activity', (%(checks)s::text[])[1], 'error', CASE WHEN c.after THEN %(reason)s::text END)::text
    FROM change c, channel_instance i WHERE i.id = %(instance)s AND c.before <> c.after AND {LISTENED}
)
"""


LOG_SAVED = f"WITH {log_health_sql('false')} SELECT"
"""For an instance that is saved: what failed before that does not count."""
