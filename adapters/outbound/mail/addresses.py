"""Addresses for the headers of mail that is sent."""

from __future__ import annotations

from email.errors import MessageError
from email.headerregistry import Address


def mailbox(address: str, name: str = "") -> Address:
    """An address with the name of its owner. Raises `ValueError` for what is none.

    The library takes a local part beyond ASCII (RFC 6531) only apart from its domain, and unchecked: what it checks
    is the address with plain letters in the place of others.
    """
    plain = "".join(each if each.isascii() else "x" for each in address)
    try:
        checked = Address(name, addr_spec=plain)
    except (MessageError, IndexError) as failure:
        raise ValueError(str(failure)) from failure
    if address.isascii():
        return checked
    local, _, domain = address.rpartition("@")
    return Address(name, username=local, domain=domain)
