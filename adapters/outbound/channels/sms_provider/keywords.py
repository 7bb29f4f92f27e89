"""Keywords by which a person opts out of text messages, opts in again, or asks for help.

Twilio acts on them itself and answers them; until the person opts in again it refuses what is sent (error 21610).
Source: https://www.twilio.com/docs/messaging/tutorials/advanced-opt-out and
https://help.twilio.com/articles/223134027 (Twilio support for opt-out keywords).
"""

from __future__ import annotations

from collections.abc import Mapping

_STOP, _START, _HELP = "opt-out", "opt-in", "help"
_TYPES = {"STOP": _STOP, "START": _START, "HELP": _HELP}
_KEYWORDS = {
    **dict.fromkeys(("STOP", "STOPALL", "UNSUBSCRIBE", "END", "QUIT", "OPTOUT", "REVOKE"), _STOP),
    **dict.fromkeys(("START", "UNSTOP"), _START),
    **dict.fromkeys(("HELP", "INFO"), _HELP),
}
"""Twilio's defaults without CANCEL and YES: these are also answers to an approval prompt."""

_AROUND = " \t\r\n\u00a0.!,;:'\"\u2018\u2019\u201c\u201d"


def opt_out_type(fields: Mapping[str, str]) -> str | None:
    """'opt-out', 'opt-in' or 'help' for a message that Twilio handles itself, None for any other.

    `OptOutType` is there when Advanced Opt-Out matched a keyword, which may be one of the customer's own. Without it
    the whole message must be a keyword, in any case. A sender on another network (`whatsapp:+49...`) has no carrier
    that would act on keywords.
    """
    if given := fields.get("OptOutType"):
        return _TYPES.get(given.strip().upper(), _STOP)
    if ":" in fields.get("From", ""):
        return None
    return _KEYWORDS.get(fields.get("Body", "").strip(_AROUND).upper())
