"""Verifies `X-Twilio-Signature` (https://www.twilio.com/docs/usage/webhooks/webhooks-security).

Twilio signs the address that it called, followed by each name and value of a form, sorted by name. The body of
anything but a form is covered by its SHA-256, which is in the address as `bodySHA256`.
"""

import base64
import hashlib
import hmac
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

from adapters.outbound.channels.common.bodies import same
from domain.channels.messages import RawCall

SIGNATURE = "x-twilio-signature"
SETTINGS = "x-twilio-webhooks-signature-settings"
"""`key=<id>,algorithm=HMAC_SHA256`: how the call was signed, when not with the default HMAC_SHA1."""

_DIGESTS = {"HMAC_SHA1": hashlib.sha1, "HMAC_SHA256": hashlib.sha256}
_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_valid(secret: str, call: RawCall) -> bool:
    """Whether the signature header was made with the secret over this very call."""
    digest = _DIGESTS.get(_algorithm(call.headers.get(SETTINGS, "")))
    body = _signed_body(call)
    if digest is None or body is None:
        return False
    given = call.headers.get(SIGNATURE, "")
    signatures = [hmac.digest(secret.encode(), url.encode() + body, digest) for url in _addresses(call)]
    matches = [same(given, base64.b64encode(signature).decode()) for signature in signatures]
    return any(matches)


def _algorithm(settings: str) -> str:
    named = dict(setting.strip().split("=", 1) for setting in settings.split(",") if "=" in setting)
    return named.get("algorithm", "").strip().upper() or "HMAC_SHA1"


def _signed_body(call: RawCall) -> bytes | None:
    """The signed part of the body; None when the body is not what the address says."""
    if not call.body:
        return b""
    if call.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        pairs = parse_qsl(call.body.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
        return "".join(name + value for name, value in sorted(set(pairs))).encode("latin-1")
    announced = call.query.get("bodySHA256", "")
    return b"" if same(announced.lower(), hashlib.sha256(call.body).hexdigest()) else None


def _addresses(call: RawCall) -> Iterator[str]:
    """The addresses that may have been signed: with and without port, and under the host as called.

    A proxy in front may end TLS and keep the Host header, so that the host which the caller named counts under
    both schemes. The secret covers the address in any case, so this lets nothing unsigned through.
    """
    public = urlsplit(call.url)
    candidates = [public]
    if (host := call.headers.get("host", "")) and host != public.netloc:
        candidates += [public._replace(netloc=host, scheme=scheme) for scheme in _DEFAULT_PORTS]
    for address in candidates:
        try:
            port = address.port
        except ValueError:
            continue
        name = address.netloc.rpartition(":")[0] if port else address.netloc
        yield address._replace(netloc=name).geturl()
        yield address._replace(netloc=f"{name}:{port or _DEFAULT_PORTS.get(address.scheme, 80)}").geturl()
