"""Errors of the operating system in its own words."""

import os
import ssl


def system_reason(error: OSError) -> str:
    """Such as "Connection refused"; empty if there is none. asyncio puts the addresses into `strerror`, as Python.
    The numbers of errors of TLS are not those of the system."""
    if error.errno and error.errno > 0 and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno)
    return error.strerror or ""
