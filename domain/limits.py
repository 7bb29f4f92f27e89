"""How long the texts of a request may be, whichever way it comes in: REST, gRPC, the command line. Pure.

In characters, unless a name says bytes. The page docs/limits.md lists them.
"""

import json
from collections.abc import Mapping

from domain.refusals import Fault, Invalid

USER_ID = 200
KEY_NAME = 100
AWAY_TEXT = 2000
"""What senders are told outside of the hours of a team."""
KEY_DAYS = 3650
"""Until an API key expires, at most."""
CHANNEL_ID = 100
CHANNEL_NAME = 200
RESOURCE_ID = 300
"""The longest form of a downstream resource id: prefix, id of 256 characters, expert index."""
ROUTES = 20
"""Of an instance."""
FALLBACKS = 5
"""Of an instance."""
CONDITION_ENTRIES = 20
"""Of a list in a condition of a route."""
CONDITION_TEXT = 200
"""One entry of such a list."""
BASE_NAME = 200
DESCRIPTION = 10_000
QUERY = 100_000
QUESTION = 10_000
"""To a knowledge base."""
EARLIER_TURNS = 100
"""Of a conversation that comes with a question."""
EARLIER_TURN = 20_000
CONVERSATION_QUERY = 200
EMAIL = 254
ONE_TIME_CODE = 20
"""Six digits, and what people write around them."""
LINK_TOKEN = 200
MESSENGER_ID = 20
PHONE = 40
IDENTITY_VALUE = 500
ADDRESS = 2000
FILE_ADDRESS = 10_000
SESSION_ID = 10_000
SUBJECT = 500
MESSAGE_TEXT = 100_000
TRIAL_TEXT = 10_000
IDEMPOTENCY_KEY = 200
CHOICES = 25
CHOICE_LABEL = 200
CHOICE_VALUE = 2000
LINK_BUTTONS = 10
"""Of an answer, and of each of its cards."""
LINK_LABEL = 80
CARDS = 10
CARD_TITLE = 200
CARD_TEXT = 4000
CARD_FIELDS = 20
CARD_FIELD_NAME = 100
CARD_FIELD_VALUE = 500
PLACE = 300
"""The name of a location, and its address."""
CONTACT_NAME = 200
CONTACT_ENTRIES = 5
"""Phone numbers of a contact, and mail addresses."""
FORM_FIELDS = 20
FORM_TITLE = 100
FORM_TEXT = 4000
FORM_NAME = 100
"""Of a form, and of each of its fields."""
FORM_LABEL = 200
FORM_SUBMIT = 40
FORM_VALUE = 4000
"""What a person writes into one field."""
ASSIGNEE = 210
LABELS = 20
LABEL = 50
"""Of a conversation, and of a person."""
PERSON_NAME = 200
LANGUAGE = 50
MERGED_PEOPLE = 50
"""Of one merge."""
SPLIT_ENTRIES = 1000
"""Conversations and identities that are split from a person at once."""
TEMPLATE_NAME = 512
TEMPLATE_LANGUAGE = 20
TEMPLATE_PARAMETERS = 50
TEMPLATE_PARAMETER = 1024
MESSAGE_FILE_BYTES = 10 * 1024 * 1024
"""Of all files that lie in one message; larger ones are given by their address."""
CURSOR = 2000
"""`cursor` of a list: `next` of the answer before."""
JSON_BYTES = 1024 * 1024
"""A configuration or a manifest, written as JSON in UTF-8."""


def text_fault(text: str, most: int) -> str | None:
    """Returns the fault of a text that may have `most` characters, or None."""
    if len(text) > most:
        return f"must be at most {most} characters"
    if "\0" in text:
        return "must not contain a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "must be text in UTF-8, without lone surrogates"
    return None


def json_fault(value: Mapping[str, object]) -> str | None:
    """Returns the fault of a JSON object that is too large, or None."""
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    return f"must be at most {JSON_BYTES // 1024} KB of JSON" if size > JSON_BYTES else None


def check_text(field: str, text: str, most: int) -> str:
    """Raises `Invalid` for a text of over `most` characters, and for a NUL character, which no database stores:
    without it the text would be another one."""
    if fault := text_fault(text, most):
        raise Invalid.of([Fault(field, fault)])
    return text


def check_filled(field: str, text: str, most: int) -> str:
    if not text.strip():
        raise Invalid.of([Fault(field, "must not be empty")])
    return check_text(field, text, most)
