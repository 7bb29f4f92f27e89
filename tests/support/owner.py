"""Run as a script: own an embedded server on a folder, print its DSN or its error, wait for input to end.

``owner.py DATA_DIR [BIN_DIR]``. For tests that kill the owner or run it as another user.
"""

import sys
from pathlib import Path

from adapters.outbound.storage.embedded import EmbeddedPostgres, EmbeddedPostgresError


def main(arguments: list[str]) -> int:
    bin_dir = Path(arguments[1]) if len(arguments) > 1 else None
    server = EmbeddedPostgres(Path(arguments[0]), bin_dir=bin_dir)
    try:
        print(server.start(), flush=True)
    except EmbeddedPostgresError as error:
        print(error, flush=True)
        return 1
    sys.stdin.read()
    server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
