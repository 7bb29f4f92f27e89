"""What stands behind resource ids, from the settings."""

from __future__ import annotations

from adapters.outbound.http.client import AioHttp
from apps.settings import Settings
from domain.routing.model import RunRequest, RunResult
from ports.downstream import Downstream


class _Echo:
    async def run(self, request: RunRequest) -> RunResult:
        return RunResult(request.text)


def build_downstream(settings: Settings, http: AioHttp) -> Downstream:
    return _Echo()
