"""A fork server that hangs up at once, on whatever it was handed, and does not end: see `test_lost_fork_server`."""

from __future__ import annotations

import os
import signal
import sys

os.close(int(sys.argv[1]))
signal.pause()
