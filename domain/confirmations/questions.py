"""Asks users and teams about the use of a tool."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from domain.confirmations.policy import APPROVER_MINUTES
from domain.confirmations.policy_check import ApproverCheck
from domain.confirmations.requests import ApprovalRequest
from domain.routing.model import Confirmation, RunRequest
from ports.approvals import ApprovalStore
from ports.queue import QueuedEvent
from ports.system import Clock, Ids

log = logging.getLogger(__name__)


@dataclass(eq=False)
class ApproverQuestions:
    store: ApprovalStore
    approvers: ApproverCheck
    clock: Clock
    ids: Ids

    async def ask(
        self, queued: QueuedEvent, run: RunRequest, confirmation: Confirmation, resource: str
    ) -> None:
        """Stores the question of a run, once however often it is asked. Raises `Unavailable`."""
        if not await self.approvers.exists(confirmation.by):
            extra = {"instance": run.instance_id}
            log.warning("there is no %s to approve a tool; only admins can", confirmation.by, extra=extra)
        now, sender = self.clock.now(), queued.event.sender
        await self.store.add(
            ApprovalRequest(
                instance_id=run.instance_id,
                session_id=run.session_id,
                inbox_id=queued.id,
                request_id=run.request_id,
                resource=resource,
                tool=confirmation.tool,
                parameters=confirmation.parameters,
                approver=confirmation.by,
                sender=sender.display_name or sender.external_id,
                original=run.text,
                asked_at=now,
                expires_at=now + timedelta(minutes=confirmation.minutes or APPROVER_MINUTES),
                secret=self.ids.token(),
                form=run.form,
            )
        )
