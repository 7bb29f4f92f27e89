"""/metrics, /healthz and /readyz of a process that has no REST gateway."""

from apps.compose.container import CoreContainer
from apps.processes.process import Component
from apps.processes.starting import listen


def metrics_components(container: CoreContainer) -> list[Component]:
    """The server for them; none where METRICS_PORT is not set, so that what it needs is not loaded either."""
    settings = container.settings()
    if not settings.metrics_port:
        return []
    from adapters.inbound.rest import ops
    from apps.http_server import HttpComponent

    listener = listen(settings.metrics_host, settings.metrics_port, "METRICS_PORT")
    app = ops.build(ops.ProcessOperations(container.checks(), container.metrics()))
    return [HttpComponent(app, listener, settings, name="metrics")]
