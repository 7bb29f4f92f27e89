"""Approvals by users and teams, in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import Select, func, select, update
from sqlalchemy.dialects import postgresql

from adapters.outbound.storage.codec import dump, key_of, storable
from adapters.outbound.storage.conversations.erasure import is_erased
from adapters.outbound.storage.events import log_one
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.notifications import note_one
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.tables import approval_request, channel_instance, notification
from domain.confirmations.requests import ApprovalRequest, ApprovalState
from domain.events import EventKind
from domain.notifications.model import NotificationKind
from domain.values import iso_milliseconds
from ports.approvals import LeasedApproval

columns = approval_request.c
REQUEST = columns_of(
    approval_request,
    "id instance_id session_id inbox_id request_id approver detail secret asked_at expires_at decision decided_by"
    " reason decided_at",
)
BATCH = 20
LEASE = timedelta(minutes=1)
"""How long a decided request is one process's, unless that renews it."""
_WAITS = columns.decision.is_(None)


class PostgresApprovals:
    """`ports.approvals.ApprovalStore`. Primary key, and indexes `approval_request_*`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def add(self, request: ApprovalRequest) -> ApprovalRequest | None:
        values = {
            "instance_id": request.instance_id,
            "inbox_id": request.inbox_id,
            "session_key": key_of(request.session_id),
            "session_id": storable(request.session_id),
            "request_id": key_of(request.request_id),
            "approver": storable(request.approver),
            "detail": dump(
                {
                    "tool": request.tool,
                    "parameters": request.parameters,
                    "resource": request.resource,
                    "sender": request.sender,
                    "original": request.original,
                    "form": request.form,
                }
            ),
            "secret": request.secret,
            "asked_at": request.asked_at,
            "expires_at": request.expires_at,
        }
        instance = select(channel_instance.c.id).filter_by(id=request.instance_id)
        added = postgresql.insert(approval_request).values(values).on_conflict_do_nothing()
        async with self._database.transaction() as connection:
            if await is_erased(connection, request.inbox_id):
                return None
            locked = instance.with_for_update(read=True, key_share=True)
            if await (await connection.run(locked)).fetchone() is None:
                return None
            row = await (await connection.run(added.returning(*REQUEST))).fetchone()
            if row is None:
                of_run = select(*REQUEST).filter_by(
                    inbox_id=request.inbox_id, request_id=values["request_id"]
                )
                row = await (await connection.run(of_run)).fetchone()
                return _request(*row) if row else None
            stored = _request(*row)
            await self._tell(connection, stored)
        return stored

    @staticmethod
    async def _tell(connection: Connection, request: ApprovalRequest) -> None:
        """Logs the question, and has its approvers notified."""
        place = {"instance_id": request.instance_id, "session_key": key_of(request.session_id)}
        await connection.run(
            log_one(
                EventKind.CONFIRMATION_ASKED,
                ref=request.inbox_id,
                data=dump({**_about(request), "expiresAt": iso_milliseconds(request.expires_at)}),
                **place,
            )
        )
        cause = {"ref": request.id, "named": [request.approver], "data": dump({"tool": request.tool})}
        await connection.run(note_one(NotificationKind.APPROVAL, **cause, **place))

    async def find(self, approval_id: int) -> ApprovalRequest | None:
        row = await self._database.fetch_one(select(*REQUEST).where(columns.id == approval_id))
        return _request(*row) if row else None

    async def list(
        self, approvers: Sequence[str] | None, state: ApprovalState | None, before: int | None, limit: int
    ) -> Sequence[ApprovalRequest]:
        requests = select(*REQUEST).order_by(columns.id.desc()).limit(limit)
        if approvers is not None:
            requests = requests.where(columns.approver.in_(map(storable, approvers)))
        if state is not None:
            requests = requests.where(
                _WAITS if state is ApprovalState.WAITING else columns.decision.is_not(None)
            )
        if before is not None:
            requests = requests.where(columns.id < before)
        return await self._many(requests)

    @retried
    async def decide(
        self, approval_id: int, decision: str, user_id: str, reason: str, now: datetime
    ) -> ApprovalRequest | None:
        in_time = columns.expires_at > now if user_id else columns.expires_at <= now
        deciding = (
            update(approval_request)
            .where(columns.id == approval_id, _WAITS, in_time)
            .values(
                decision=decision,
                decided_by=storable(user_id),
                reason=storable(reason),
                decided_at=now,
                due_at=func.now(),
            )
            .returning(*REQUEST)
        )
        async with self._database.transaction() as connection:
            row = await (await connection.run(deciding)).fetchone()
            if row is None:
                return None
            decided = _request(*row)
            shown = "expired" if decided.is_expired else decision
            data = {**_about(decided), "decision": shown, "decidedBy": None, "decider": user_id}
            await connection.run(
                log_one(
                    EventKind.CONFIRMATION_DECIDED,
                    instance_id=decided.instance_id,
                    session_key=key_of(decided.session_id),
                    ref=decided.inbox_id,
                    data=dump(data),
                )
            )
        return decided

    async def notified(self, approval_id: int) -> Sequence[str]:
        users = select(notification.c.user_id).where(
            notification.c.object == f"{NotificationKind.APPROVAL}:{approval_id}"
        )
        return await self._database.fetch_column(users)

    async def expired(self, now: datetime) -> Sequence[ApprovalRequest]:
        return await self._many(
            select(*REQUEST)
            .where(_WAITS, columns.expires_at <= now)
            .order_by(columns.expires_at)
            .limit(BATCH)
        )

    async def lease_decided(self, limit: int) -> Sequence[LeasedApproval]:
        due = (
            select(columns.id)
            .where(columns.decision.is_not(None), columns.finished_at.is_(None))
            .where(columns.due_at <= func.now())
            .order_by(columns.due_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        leasing = update(approval_request).where(columns.id.in_(due)).values(due_at=func.now() + LEASE)
        rows = await self._database.fetch(leasing.returning(columns.begun, *REQUEST))
        return [LeasedApproval(_request(*row), begun) for begun, *row in rows]

    async def begin(self, approval_id: int) -> None:
        await self._change(approval_id, begun=True)

    async def renew(self, approval_id: int) -> None:
        await self._change(approval_id, due_at=func.now() + LEASE)

    async def finish(self, approval_id: int) -> None:
        await self._change(approval_id, finished_at=func.now())

    async def _change(self, approval_id: int, **values: Any) -> None:
        await self._database.execute(
            update(approval_request).where(columns.id == approval_id).values(**values)
        )

    async def _many(self, requests: Select[Any]) -> Sequence[ApprovalRequest]:
        return [_request(*row) for row in await self._database.fetch(requests)]


def _about(request: ApprovalRequest) -> dict[str, object]:
    return {"confirmationId": str(request.id), "tool": request.tool, "by": request.approver}


def _request(
    id: int, instance_id: int, session_id: str, inbox_id: int, request_id: str, approver: str, detail: str, *rest: Any
) -> ApprovalRequest:  # fmt: skip
    secret, asked_at, expires_at, decision, decided_by, reason, decided_at = rest
    return ApprovalRequest(
        **orjson.loads(detail),
        id=id,
        instance_id=instance_id,
        session_id=session_id,
        inbox_id=inbox_id,
        request_id=request_id,
        approver=approver,
        secret=secret,
        asked_at=asked_at,
        expires_at=expires_at,
        decision=decision,
        decided_by=decided_by,
        reason=reason,
        decided_at=decided_at,
    )
