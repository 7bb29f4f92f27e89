"""A PostgreSQL of our own: started in DATA_DIR, ended with the process that started it.

Layout, all of it under ``DATA_DIR/postgres``:

- ``owner.lock``: locked (flock) by the one process that owns the server; holds its process id
- ``running.json``: where the running server listens, for `attach`; there only while it runs
- ``server.log``, ``server.log.1``: the server's words since this start, and those of the run before
- ``location.json``: only where the database user cannot reach DATA_DIR: the folder that stands for
  ``DATA_DIR/postgres`` in the two lines below
- ``cluster/``: the database itself (mode 0700, the socket inside)
- ``runtime/``: a copy of the server's programs, only where the database user cannot reach the installed ones

PostgreSQL refuses to run as root. Started by root, the server runs as the account that owns ``cluster/``,
which at first is ``nobody``; no account is made and no permission of an existing folder is changed.

The socket lies in a folder of mode 0700, so only that account and root can reach it: that is why local
connections are trusted. Connections over TCP, when asked for, need a password.
"""

from adapters.outbound.storage.embedded.data_paths import EmbeddedPostgresError, attach
from adapters.outbound.storage.embedded.server import EmbeddedPostgres

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "attach"]
