"""The page at the end of an OAuth redirect: it tells the window that opened it, and closes itself. Pure."""

import json
from dataclasses import dataclass
from html import escape
from urllib.parse import urlsplit

from domain.verification.model import OAuthResult

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Verification</title></head>
<body>
<h1>{title}</h1>
<p>{text}</p>
<p>You can close this window.</p>
<script nonce="{nonce}">
(function () {{
  if (window.opener) {{
    window.opener.postMessage({message}, {origin});
    window.close();
  }}
}})();
</script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Page:
    html: str
    headers: dict[str, str]


def closing_page(provider: str, result: OAuthResult, platform_url: str, nonce: str) -> Page:
    """The message goes to the origin of `platform_url` alone."""
    message: dict[str, object] = {
        "type": "verification",
        "provider": provider[:100],
        "success": result.success,
    }
    if not result.success:
        message["error"] = result.message
    html = TEMPLATE.format(
        title="Verified" if result.success else "Not verified",
        text=escape(result.message),
        nonce=nonce,
        message=_literal(message),
        origin=_literal(_origin(platform_url)),
    )
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
    return Page(html, headers)


def _origin(url: str) -> str:
    address = urlsplit(url)
    return f"{address.scheme}://{address.netloc}"


def _literal(value: object) -> str:
    """JSON that ends no script element and breaks no line of JavaScript."""
    text = json.dumps(value, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
