"""Errors of the operating system in its own words."""

import os


def reason_of(error: OSError) -> str:
    """Such as "Connection refused"; empty if there is none. asyncio puts the addresses into `strerror`, as Python."""
    if error.errno and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or ""
