"""`switchboard healthcheck`: asks the process beside it, for containers, whose images bring no HTTP client."""

import sys
from argparse import Namespace
from http.client import HTTPConnection, HTTPException

from apps.processes.starting import StartError
from apps.settings import Settings

PATIENCE_SECONDS = 4.0
PATH = "/healthz"
EVERY_ADDRESS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing listens here
"""What listens on every address is asked on the loopback one."""
PROCESSES = {"up": "HTTP_PORT", "gateway": "HTTP_PORT", "core": "METRICS_PORT", "worker": "METRICS_PORT"}
"""Which setting has the port that a process answers on."""


def main(settings: Settings, options: Namespace) -> int:
    """0 where the process answers. Where it is not said which process it is, the first port counts on which something
    listens: METRICS_PORT, then HTTP_PORT."""
    setting = PROCESSES.get(options.process, "")
    if setting == "METRICS_PORT" and not settings.metrics_port:
        raise StartError(
            f"METRICS_PORT is not set: a {options.process} answers there alone; set it for both commands"
        )
    metrics, gateway = (
        (settings.metrics_host, settings.metrics_port),
        (settings.http_host, settings.http_port),
    )
    places = {"METRICS_PORT": [metrics], "HTTP_PORT": [gateway]}.get(setting, [metrics, gateway])
    faults = []
    for host, port in places if settings.metrics_port else [gateway]:
        try:
            fault = _fault(EVERY_ADDRESS.get(host, host), port)
        except ConnectionRefusedError:
            faults.append(f"http://{host}:{port}{PATH} does not answer: nothing listens there")
        else:
            faults = [f"http://{host}:{port}{PATH} {fault}"] if fault else []
            break
    for line in faults:
        print(line, file=sys.stderr)
    return 1 if faults else 0


def _fault(host: str, port: int) -> str:
    """Raises `ConnectionRefusedError` where nothing listens."""
    connection = HTTPConnection(host, port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", PATH)
        status = connection.getresponse().status
    except ConnectionRefusedError:
        raise
    except (OSError, HTTPException) as error:
        return f"does not answer: {error}"
    finally:
        connection.close()
    return "" if status == 200 else f"answers {status}"
