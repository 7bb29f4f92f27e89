"""Makes addresses safe for logs, metrics and error texts."""

import re
from urllib.parse import parse_qsl, urlsplit

_BOT_TOKEN = re.compile(r"/bot\d+(:|%3[aA])[^/?#]*")
_LONG = re.compile(r"(?<=/)[A-Za-z0-9_\-.%~=]{20,}(?=/|$)")


def safe_url(url: str) -> str:
    """The address without what may be secret: user and password, the values of the query, the fragment, bot
    tokens in the path (`/bot<id>:<secret>/`), and path segments long enough to be a key."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "(an address that cannot be read)"
    if ":" in host:
        host = f"[{host}]"
    path = _LONG.sub("***", _BOT_TOKEN.sub("/bot***", parts.path))
    names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    query = "?" + "&".join(f"{name}=***" for name in names) if names else ""
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{path}{query}"
