"""How far the exchange of one request came."""

import asyncio
import time
from dataclasses import dataclass, field

from adapters.outbound.http.bodies import Source
from ports.http import HttpRequest


@dataclass(slots=True)
class Exchange:
    """`deadline` in the time of the event loop; `sent` once the first byte may have left."""

    request: HttpRequest
    deadline: float
    started: float
    source: Source = field(default_factory=Source)
    sent: bool = False

    @classmethod
    def of(cls, request: HttpRequest) -> "Exchange":
        return cls(request, asyncio.get_running_loop().time() + request.timeout, time.perf_counter())
