"""Addresses to which messages are sent that answer none: what a caller gives as `to`."""

import re

from domain.refusals import Fault, Invalid

LONGEST_ADDRESS = 1000
PHONE = re.compile(r"\+[1-9][0-9]{6,14}")
PHONE_EXAMPLE = "a phone number in E.164 form, for example +4915112345678"


def read_address(pattern: re.Pattern[str], to: str, expected: str) -> re.Match[str]:
    """The address, whole as the pattern has it. Raises `Invalid`, with what was `expected`."""
    match = pattern.fullmatch(to) if len(to) <= LONGEST_ADDRESS else None
    if match is None:
        raise no_address(f"must be {expected}")
    return match


def no_address(reason: str) -> Invalid:
    """The refusal of an address."""
    return Invalid.of([Fault("to", reason)])
