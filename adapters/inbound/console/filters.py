"""What templates do with values."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from urllib.parse import quote

from markupsafe import Markup, escape

from adapters.inbound.console.markdown import Markdown
from domain.conversations.model import ConversationView

LONGEST_NAME = 120
SIZES = ("B", "KB", "MB", "GB", "TB")


def moment(at: datetime | None) -> Markup:
    """A time in UTC; the script shows it in the browser's zone."""
    if at is None:
        return Markup("")
    return Markup('<time datetime="{}">{} UTC</time>').format(at.isoformat(), f"{at:%Y-%m-%d %H:%M}")


def size(count: int) -> str:
    """Bytes in a unit that people read: 1.4 MB."""
    amount, unit = float(count), SIZES[0]
    for unit in SIZES:
        if amount < 1000 or unit == SIZES[-1]:
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == SIZES[0] or amount >= 100 else f"{amount:.1f} {unit}"


def duration(seconds: float) -> str:
    """Seconds in one unit: 0.4 s, 12 s, 3 min, 5 h, 2 days."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86_400:.0f} days"


def segment(text: object) -> str:
    """A text as one segment of a path, whatever characters it has."""
    return quote(str(text), safe="")


def lines(text: str) -> Markup:
    """A text with its line breaks."""
    return escape(text).replace("\n", Markup("<br>"))


def sentence(text: str) -> str:
    """A text that begins small, such as a fault, as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ":")) else ".")


_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line ends, lone surrogates, and what reverses the text behind it."""


def visible(text: str) -> str:
    """A name or id that a stranger chose, on one line and as it is written: joiners, no-break spaces and emoji of any
    Unicode version stay. Unsafe characters become U+FFFD."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def who(view: ConversationView) -> str:
    """Who writes in a conversation: a name, else an id."""
    names = (view.sender.display_name, view.sender.external_id, view.session_id)
    for name in names:
        if any(character.isprintable() and not character.isspace() for character in name):
            return visible(name[:LONGEST_NAME])
    return "Somebody without a name"


def local(url: str, agent_url: str) -> str:
    """The address of a file below this console's own host where it is one of ours; empty for what is no web page."""
    own = agent_url.rstrip("/")
    if url.startswith(f"{own}/"):
        return url.removeprefix(own)
    return url if url.startswith(("https://", "http://")) else ""


ALL: Mapping[str, Callable[..., object]] = {
    "moment": moment,
    "size": size,
    "duration": duration,
    "segment": segment,
    "lines": lines,
    "sentence": sentence,
    "visible": visible,
    "who": who,
    "local": local,
    "markdown": Markdown,
}
