"""Errors of the operating system in its own words."""

import os
import ssl


def system_reason(error: OSError) -> str:
    """The reason of an error, such as "Connection refused", or "" without one.

    asyncio puts addresses into `strerror`. The numbers of TLS errors are not those of the system.
    """
    if error.errno and error.errno > 0 and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno)
    return error.strerror or ""
