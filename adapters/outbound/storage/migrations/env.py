"""Alembic's entry: runs the migrations on the connection that `migrate` hands over."""

from __future__ import annotations

from alembic import context

from adapters.outbound.storage.migrate import TABLE

context.configure(
    connection=context.config.attributes["connection"], transaction_per_migration=True, version_table=TABLE
)
with context.begin_transaction():
    context.run_migrations()
