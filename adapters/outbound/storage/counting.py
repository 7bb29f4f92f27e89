"""What the counts of figures and of reports have in common: texts of SQL over a time from `since` to `until`."""

SETTLED = """(
    SELECT least(now(), min(xact_start)) - interval '2 seconds' FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'switchboard' AND pid <> pg_backend_pid()
)"""
"""Until when no transaction is open any more that could store something: one is seen here a moment after its time was
taken."""

FAILED = """
SELECT instance_id, finished_at AS at FROM inbox
WHERE finished_at > %(since)s AND finished_at <= %(until)s AND status = 2
UNION ALL
SELECT instance_id, finished_at FROM outbox o
WHERE finished_at > %(since)s AND finished_at <= %(until)s AND status = 2 AND NOT apology
AND coalesce(inbox_id, send_id) IS NOT NULL AND NOT EXISTS (
    SELECT FROM outbox p
    WHERE (p.inbox_id = o.inbox_id OR p.send_id = o.send_id) AND p.status = 2 AND p.id < o.id
)
"""
"""Messages of both directions that were given up: one with several dead parts when the first one was. Indexes
`inbox_finished`, `outbox_given_up`, `outbox_by_event` and `outbox_by_send`."""
