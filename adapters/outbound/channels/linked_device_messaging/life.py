"""Runs one linked device: the state machine's deeds, done."""

from __future__ import annotations

import asyncio
import logging

from adapters.outbound.channels.linked_device_messaging.messages import event_of, ignored_for, masked
from domain.channels.linked_device import (
    PAIRING_WAIT,
    RECONNECT_AFTER,
    Action,
    LinkStatus,
    Trigger,
    step,
)
from domain.channels.messages import Config
from ports.capabilities import Emit
from ports.clock import Clock
from ports.linked_device import (
    DeviceError,
    DeviceEvent,
    Dropped,
    Incoming,
    Linked,
    LinkedDevice,
    LoggedOut,
    Unlinked,
)
from ports.links import LinkRecorder

log = logging.getLogger(__name__)


class DeviceSession:
    """From the first connection to the end of the lease."""

    def __init__(
        self,
        device: LinkedDevice,
        instance_id: int,
        config: Config,
        emit: Emit,
        recorder: LinkRecorder,
        clock: Clock,
        reconnect_after: float = RECONNECT_AFTER,
        pairing_wait: float = PAIRING_WAIT,
    ) -> None:
        self._device = device
        self._instance_id = instance_id
        self._config = config
        self._emit = emit
        self._recorder = recorder
        self._clock = clock
        self._reconnect_after = reconnect_after
        self._pairing_wait = pairing_wait
        self._status = LinkStatus.PAIRING
        self._wants_code = False
        self._has_code = False
        """Whether a code was made over the present connection; the next one needs another."""
        self._connected_at = 0.0
        self._turn = asyncio.Lock()
        self._not_made = asyncio.Event()
        """A connection could not even be begun: no event will tell of its end."""

    async def run(self) -> None:
        """Runs until it is cancelled, or the device ends."""
        stored = await self._recorder.status()
        if stored is None:
            await self._happened(Trigger.CREATED)
        else:
            self._status = LinkStatus(stored)
            self._wants_code = self._status is not LinkStatus.CONNECTED
        self._connected_at = self._clock.now().timestamp()
        async with asyncio.TaskGroup() as group:
            beside = [group.create_task(self._answer_requests()), group.create_task(self._connect_again())]
            await self._connect()
            async for event in self._device.events():
                async with self._turn:
                    await self._on(event)
            for task in beside:
                task.cancel()

    async def _answer_requests(self) -> None:
        while True:
            await self._recorder.wait_for_code_request()
            async with self._turn:
                await self._happened(Trigger.ASKED_FOR_CODE)

    async def _connect_again(self) -> None:
        while True:
            await self._not_made.wait()
            await asyncio.sleep(self._reconnect_after)
            self._not_made.clear()
            async with self._turn:
                await self._connect()

    async def _on(self, event: DeviceEvent) -> None:
        if isinstance(event, Incoming):
            await self._message(event)
        elif isinstance(event, Linked):
            self._connected_at = self._clock.now().timestamp()
            await self._recorder.set_connected_since(self._clock.now())
            await self._happened(Trigger.LINKED)
        elif isinstance(event, Unlinked):
            if self._wants_code and not self._has_code:
                await self._request_code()
        elif isinstance(event, LoggedOut):
            await self._happened(Trigger.LOGGED_OUT)
        elif isinstance(event, Dropped):
            log.info("the connection dropped: %s", event.reason, extra={"instance": self._instance_id})
            await self._recorder.set_connected_since(None)
            await self._happened(Trigger.DROPPED)

    async def _happened(self, happening: Trigger) -> None:
        following = step(self._status, happening)
        self._status = following.status
        await self._recorder.set_status(following.status)
        for deed in following.deeds:
            await self._do(deed)

    async def _do(self, deed: Action) -> None:
        if deed is Action.CLEAR_AUTH:
            await self._cleared()
        elif deed is Action.REQUEST_CODE:
            self._wants_code = True
            if self._connected_at:
                await self._request_code()
        elif deed is Action.FORGET_CODE:
            self._wants_code = False
            await self._recorder.record_code(None)
        elif deed is Action.RECONNECT:
            await asyncio.sleep(self._reconnect_after)
            await self._connect()

    async def _connect(self) -> None:
        self._has_code = False
        try:
            await self._device.connect()
        except DeviceError as failure:
            log.warning("connecting failed: %s", failure, extra={"instance": self._instance_id})
            self._not_made.set()
            if self._wants_code:
                await self._recorder.record_pairing_failure(str(failure))

    async def _cleared(self) -> None:
        self._has_code = False
        await self._recorder.set_connected_since(None)
        try:
            await self._device.logout()
        except DeviceError as failure:
            log.warning("clearing failed: %s", failure, extra={"instance": self._instance_id})

    async def _request_code(self) -> None:
        try:
            async with asyncio.timeout(self._pairing_wait):
                code = await self._device.pair(str(self._config["phoneNumber"]))
        except TimeoutError:
            await self._recorder.record_pairing_failure(
                f"no pairing code came within {self._pairing_wait:g} seconds"
            )
        except DeviceError as failure:
            await self._recorder.record_pairing_failure(str(failure))
        else:
            self._has_code = True
            await self._recorder.record_code(code)

    async def _message(self, message: Incoming) -> None:
        reason = ignored_for(self._config, message, self._connected_at)
        if reason is None:
            await self._emit(event_of(self._instance_id, message))
        elif reason == "not-allowed":
            shown = masked(message.sender_ids[0]) if message.sender_ids else "?"
            log.info("a sender is not allowed: %s", shown, extra={"instance": self._instance_id})
