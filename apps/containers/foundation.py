"""What everything else in a process stands on: clock, ids, metrics, traces, HTTP."""

import secrets

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.system.clock import RandomIds, SteadyClock, SystemClock
from adapters.outbound.system.metrics import PrometheusMeter
from apps.settings import Settings
from apps.traces import traces_of


class Foundation:
    """`role` is the command of the process, for its traces. `worker_id` is the number of this run of the process: the
    key of its advisory lock, the owner of its leases."""

    def __init__(self, settings: Settings, clock: SystemClock, role: str = "") -> None:
        self.settings = settings
        self.clock = clock
        self.steady_clock = SteadyClock() if isinstance(clock, SystemClock) else clock
        self.ids = RandomIds()
        self.meter = PrometheusMeter()
        self.worker_id = secrets.randbits(62)
        self.policy = AddressPolicy.parse(settings.address_policy, settings.outbound_allow.split(","))
        self.http = AioHttp(self.policy, observe=self.meter.exchanged)
        self.traces = traces_of(settings, role)
        self.traced_http = self.traces.http(self.http)
