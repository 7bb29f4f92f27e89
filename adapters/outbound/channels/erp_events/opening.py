"""Opens records for notes that answer no event."""

import re
from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import read_address
from adapters.outbound.channels.erp_events.config import OdooConfig, RecordTarget, session_of
from ports.reply_capabilities import Opened, OpenRequest

_ADDRESS = re.compile(r"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*):([1-9][0-9]{0,9})")


@dataclass(frozen=True, slots=True)
class Opener:
    address: str = "the technical name of a model and the id of a record, for example sale.order:42"

    def default_address(self, config: OdooConfig) -> str:
        return ""

    async def open(self, config: OdooConfig, request: OpenRequest) -> Opened[RecordTarget]:
        model, number = read_address(_ADDRESS, request.to, self.address).groups()
        return Opened(session_of(model, int(number)), RecordTarget(model=model, record_id=int(number)))
