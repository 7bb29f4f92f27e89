"""The traces of a process."""

from adapters.outbound.system.tracing import Traces
from apps.settings import Settings


def traces_of(settings: Settings, role: str = "") -> Traces:
    """`role`: which process of the service it is; empty for all in one."""
    service = f"switchboard-{role}" if role else "switchboard"
    return Traces(settings.otlp_endpoint, service, settings.ssl_cert_file)
