"""The page at the end of an OAuth redirect, in the style of the console: it tells the window that opened it how that
ended, and closes itself after success."""

import json
from dataclasses import dataclass
from html import escape
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

from domain.verification.model import OAuthResult

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<main class="alone">
<h1>{title}</h1>
<p class="notice {kind}" dir="auto">{text}</p>
<p>{advice}</p>
<p><a class="button" href="{back}">To your identities</a></p>
</main>
<script nonce="{nonce}">
(function () {{
  if (window.opener) {{
    window.opener.postMessage({message}, {origin});
    {then}
  }}
}})();
</script>
</body>
</html>
"""
CLOSED = "You can close this window."
AGAIN = "Nothing was changed. Close this window, and start again where you came from."


REDIRECT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={address}">
<title>Switchboard</title>
</head>
<body><p><a href="{address}">Go on to Switchboard</a></p></body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses on the page: the platform, whose origin gets the message, the stylesheet, and where people verify."""

    platform_url: str
    style: str
    back: str


def closing_page(provider: str, result: OAuthResult, addresses: Addresses, nonce: str) -> HTMLResponse:
    """The message goes to the origin of the platform alone."""
    message: dict[str, object] = {
        "type": "verification",
        "provider": provider[:100],
        "success": result.success,
    }
    if not result.success:
        message["error"] = result.message
    html = TEMPLATE.format(
        title="Verified" if result.success else "Not verified",
        kind="good" if result.success else "bad",
        text=escape(result.message),
        advice=CLOSED if result.success else AGAIN,
        back=escape(addresses.back),
        style=escape(addresses.style),
        nonce=nonce,
        message=_literal(message),
        origin=_literal(_origin(addresses.platform_url)),
        then="window.close();" if result.success else "",
    )
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' {_origin(addresses.style)};"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(html, 200 if result.success else 400, _headers(policy))


def redirect_page(address: str) -> HTMLResponse:
    """Leads the browser on to the console, where the sign-in began. A page and no redirect: a platform that forwards
    the callback may follow redirects itself, without the cookie of the browser."""
    policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return HTMLResponse(REDIRECT.format(address=escape(address)), headers=_headers(policy))


def _headers(policy: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }


def _origin(url: str) -> str:
    address = urlsplit(url)
    return f"{address.scheme}://{address.netloc}"


def _literal(value: object) -> str:
    """JSON that ends no script element and breaks no line of JavaScript."""
    text = json.dumps(value, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
