"""`switchboard healthcheck`: asks the process beside it, for containers, whose images bring no HTTP client."""

import sys
from argparse import Namespace
from http.client import HTTPConnection, HTTPException

from apps.settings import Settings

PATIENCE_SECONDS = 4.0
PATH = "/healthz"
EVERY_ADDRESS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing listens here
"""What listens on every address is asked on the loopback one."""


def main(settings: Settings, _: Namespace) -> int:
    """0 where the process answers. METRICS_PORT, where it is set, is that of a core or a worker; else HTTP_PORT."""
    host, port = (
        (settings.metrics_host, settings.metrics_port)
        if settings.metrics_port
        else (settings.http_host, settings.http_port)
    )
    fault = _fault(EVERY_ADDRESS.get(host, host), port)
    if fault:
        print(f"http://{host}:{port}{PATH} {fault}", file=sys.stderr)
    return 1 if fault else 0


def _fault(host: str, port: int) -> str:
    connection = HTTPConnection(host, port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", PATH)
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return f"does not answer: {error}"
    finally:
        connection.close()
    return "" if status == 200 else f"answers {status}"
