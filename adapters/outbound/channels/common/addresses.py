"""Addresses to which messages are sent that answer none: what a caller gives as `to`."""

import re
from urllib.parse import urlsplit

from domain.refusals import Fault, Invalid

LONGEST_ADDRESS = 1000
PHONE = re.compile(r"\+[1-9][0-9]{6,14}")
PHONE_EXAMPLE = "a phone number in E.164 form, for example +4915112345678"


class NoDefaultAddress:
    """What `ports.capabilities.ConversationOpener` asks of a channel whose configuration names no address."""

    def default_address(self, config: object) -> str:
        return ""


def read_address(pattern: re.Pattern[str], to: str, expected: str) -> re.Match[str]:
    """The address, whole as the pattern has it. Raises `Invalid`, with what was `expected`."""
    match = pattern.fullmatch(to) if len(to) <= LONGEST_ADDRESS else None
    if match is None:
        raise no_address(f"must be {expected}")
    return match


def named_host(url: str, *schemes: str) -> str:
    """The full name of the host of an address with one of these schemes, empty for any other address."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    is_name = "." in host and not host.rpartition(".")[2].isdigit()
    return host if is_name and parts.scheme in schemes else ""


def no_address(reason: str) -> Invalid:
    return Invalid.of([Fault("to", reason)])
