"""Keywords by which a person opts out of text messages, opts in again, or asks for help.

Twilio answers them itself; until the person opts in again it refuses what is sent (error 21610). Sources:
https://www.twilio.com/docs/messaging/tutorials/advanced-opt-out and
https://help.twilio.com/articles/223134027 (Twilio support for opt-out keywords).
"""

import re
from collections.abc import Mapping

STOP, START, HELP = "opt-out", "opt-in", "help"
_TYPES = {"STOP": STOP, "START": START, "HELP": HELP}
_KEYWORDS = {
    **dict.fromkeys(("STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "END", "QUIT", "REVOKE"), STOP),
    **dict.fromkeys(("OPTOUT", "OPT OUT", "OPT-OUT"), STOP),
    **dict.fromkeys(("START", "UNSTOP"), START),
    **dict.fromkeys(("HELP", "INFO"), HELP),
}
"""Twilio's defaults, some in two spellings, without CANCEL and YES: these also answer an approval prompt. After YES
Twilio accepts answers again, so it may be a message too."""
_OPT_OUT_OR_REJECTION = "CANCEL"
_OPT_IN_OR_APPROVAL = "YES"

_AROUND = re.compile(r"^[^\w?]+|[^\w?]+$")
"""White space, punctuation, emoji and invisible characters; a question mark makes it a question."""
_LONGEST = 40


def opt_out_type(fields: Mapping[str, str]) -> str | None:
    """'opt-out', 'opt-in' or 'help' for a message that Twilio handles itself, None for any other.

    `OptOutType` is there when Advanced Opt-Out matched a keyword, which may be one of the customer's own. Without it
    the whole message must be a keyword, in any case. A sender on another network (`whatsapp:+49...`) has no carrier
    that would act on keywords.
    """
    if given := fields.get("OptOutType"):
        return _TYPES.get(given.strip().upper(), STOP)
    return _KEYWORDS.get(_keyword(fields))


def opts_in(fields: Mapping[str, str]) -> bool:
    """Whether Twilio accepts messages to the person again after this one, which is handed on all the same."""
    return _keyword(fields) == _OPT_IN_OR_APPROVAL


def only_rejects(fields: Mapping[str, str]) -> bool:
    """Whether a message can only reject an approval, as Twilio refuses answers to it."""
    return _keyword(fields) == _OPT_OUT_OR_REJECTION


def _keyword(fields: Mapping[str, str]) -> str:
    """The message as a keyword, empty where it cannot be one."""
    body = fields.get("Body", "").strip()
    if ":" in fields.get("From", "") or len(body) > _LONGEST:
        return ""
    return _AROUND.sub("", body).upper()
