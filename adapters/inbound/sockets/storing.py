"""Stores what the connection of an instance received."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.callbacks import SessionRenames
from domain.channels.messages import Event, SessionAlias, SessionRename
from domain.channels.model import Proof
from domain.refusals import INTERNAL, Unavailable
from ports.connections import ConnectionStore, LinkRecorder
from ports.instances import UnansweredStore
from ports.queue import Inbox
from ports.system import Meter

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Storing:
    """`ports.capabilities.Emit` of one instance. An event that cannot be stored is recorded in the instance's health:
    an exception would end the connection, and the event would come again with the next one."""

    instance_id: int
    channel_id: str
    inbox: Inbox
    unanswered: UnansweredStore
    connections: ConnectionStore
    recorder: LinkRecorder
    meter: Meter
    renames: SessionRenames
    proof: Proof = Proof.OWNER

    async def __call__(self, event: Event) -> None:
        try:
            event = (await self.renames.resolved(self.instance_id, event)).proved_by(self.proof)
            if event.refused:
                self.meter.received(self.channel_id, f"ignored:{event.refused}")
                await self.unanswered.add(self.instance_id, event)
                return
            for accepted in await self.inbox.add(self.instance_id, [event]):
                if not accepted.dropped:
                    self.meter.accepted(self.channel_id, accepted.fresh)
        except Unavailable:
            raise
        except Exception:
            log.exception("a message could not be stored", extra={"instance": self.instance_id})
            await self.recorder.record_failure(f"a message could not be stored: {INTERNAL}")

    async def join(self, alias: SessionAlias) -> None:
        await self.renames.join(self.instance_id, alias)

    async def batch(
        self,
        events: Sequence[Event],
        cursor: Mapping[str, object],
        renames: Sequence[SessionRename] = (),
    ) -> None:
        """An edit may concern a message of the same batch, whether a thread is followed or we sent what somebody
        reacts to is not known here, and what is refused is listed: such batches are stored before the cursor. After
        a crash in between they come again and are known by their keys."""
        if any(map(_is_stored_alone, events)):
            for event in events:
                await self(event)
            events = ()
        for rename in renames:  # again after a crash, which changes nothing
            await self.renames.rename(self.instance_id, rename)
        resolved = [await self.renames.resolved(self.instance_id, event) for event in events]
        proved = [event.proved_by(self.proof) for event in resolved]
        stored = await self.connections.store(self.instance_id, proved, cursor)
        if stored is None:
            raise Unavailable("another process keeps the connection now")
        for event, fresh in zip(resolved, stored, strict=True):
            match fresh:
                case True:
                    self.meter.accepted(self.channel_id, fresh)
                case False:  # it may have more content than the event of the same key that is stored
                    await self(event)
        if lost := list(stored).count(None):
            reason = f"{lost} of {len(stored)} new messages could not be stored and are skipped"
            await self.recorder.record_failure(reason)

    async def cursor(self) -> Mapping[str, object] | None:
        return await self.connections.cursor(self.instance_id)


def _is_stored_alone(event: Event) -> bool:
    return bool(event.change or event.only_followed or event.reacts_to or event.refused)
