"""Rules of verification: lifetimes, limits, and when two identity values are the same. Pure."""

import re
from datetime import timedelta

from domain import limits
from domain.channels.messages import Identity
from domain.refusals import Fault, Invalid

SERVICE_ONLY = "this call needs the internal service key"
CODE_DIGITS = 6
CODE_LIFE = timedelta(seconds=600)
CODE_TRIES = 5
SENDS_PER_HOUR = 5
"""Codes that go to one address in an hour."""
SENDS_PER_USER = 20
"""Codes that one user asks for in an hour, whatever the addresses."""
LINK_LIFE = timedelta(seconds=300)
STATE_LIFE = timedelta(seconds=600)

PHONE_FIELDS = frozenset({"phone", "business-messaging"})

_EMAIL = re.compile(r"[^\s@<>()\[\],;:\\\"\x00-\x1f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_PHONE_MARKS = re.compile(r"[\s().\-/\u00a0]")
_PHONE = re.compile(r"[1-9]\d{6,14}")


def normal(identity: Identity) -> str:
    """The form in which values are compared: phones as E.164 digits, e-mail addresses in lower case."""
    if identity.field in PHONE_FIELDS:
        return phone_digits(identity.value) or identity.value.strip()
    if identity.field == "email":
        return identity.value.strip().lower()
    return identity.value.strip()


def phone_digits(value: str) -> str | None:
    """E.164 digits of a number with its country code, None for what is none."""
    digits = _PHONE_MARKS.sub("", value)
    digits = digits.removeprefix("+") if digits.startswith("+") else digits.removeprefix("00")
    return digits if _PHONE.fullmatch(digits) and digits.isascii() else None


def checked_email(value: str) -> str:
    """The address, lower-case. Raises `Invalid`."""
    address = value.strip().lower()
    if len(address) > limits.EMAIL or not _EMAIL.fullmatch(address) or ".." in address:
        raise Invalid.of([Fault("email", "must be a mail address such as ann@example.com")])
    return address


def checked_code(value: str) -> str:
    """The one-time code. Raises `Invalid`."""
    code = value.strip()
    if len(code) != CODE_DIGITS or not (code.isascii() and code.isdigit()):
        raise Invalid.of([Fault("otp", f"must be the {CODE_DIGITS} digits of the code that was sent")])
    return code


def check_identity(identity: Identity) -> None:
    """Raises `Invalid` for an identity that none can be: too long, or with a NUL character."""
    given = (("field", identity.field, limits.CHANNEL_ID), ("value", identity.value, limits.IDENTITY_VALUE))
    faults = [Fault(name, fault) for name, text, most in given if (fault := limits.text_fault(text, most))]
    if faults:
        raise Invalid.of(faults)


def check_token(token: str) -> None:
    """Raises `Invalid` for a text that is too long for the token of a link."""
    if fault := limits.text_fault(token, limits.LINK_TOKEN):
        raise Invalid.of([Fault("token", fault)])


def bot_identities(messenger_id: str, phone: str) -> tuple[Identity, ...]:
    """The three identities that a shared contact proves. Raises `Invalid`."""
    digits = phone_digits(phone)
    faults = []
    if digits is None:
        faults.append(Fault("phone", "must be a phone number with its country code"))
    if not re.fullmatch(r"[0-9]{1,20}", messenger_id):
        faults.append(Fault("bot_messenger_id", "must be the messenger's numeric user id"))
    if faults or digits is None:
        raise Invalid.of(faults)
    return (
        Identity("phone", f"+{digits}"),
        Identity("bot-messenger", messenger_id),
        Identity("business-messaging", digits),
    )
