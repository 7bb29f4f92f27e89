"""Proof of origin of a Twilio webhook: `X-Twilio-Signature`.

Twilio signs the address it called, followed by each name and value of a form, sorted by name. The body of
anything but a form is covered by its SHA-256, which stands in the address as `bodySHA256`.
Source: https://www.twilio.com/docs/usage/webhooks/webhooks-security
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qsl, urlsplit

from adapters.outbound.channels.common.bodies import same
from domain.channels.messages import RawCall

SIGNATURE = "x-twilio-signature"
SETTINGS = "x-twilio-webhooks-signature-settings"
"""`key=<id>,algorithm=HMAC_SHA256`: how the call was signed, when not with the default HMAC_SHA1."""

_DIGESTS = {"HMAC_SHA1": hashlib.sha1, "HMAC_SHA256": hashlib.sha256}
_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_valid(secret: str, call: RawCall) -> bool:
    """Whether the signature header of the call was made with the secret over this very call."""
    digest = _DIGESTS.get(_algorithm(call.headers.get(SETTINGS, "")))
    covered = _covered_body(call)
    if digest is None or covered is None:
        return False
    given = call.headers.get(SIGNATURE, "")
    matches = [
        same(given, base64.b64encode(hmac.digest(secret.encode(), url + covered, digest)).decode())
        for url in _addresses(call)
    ]
    return any(matches)


def _algorithm(settings: str) -> str:
    for part in settings.split(","):
        name, _, value = part.partition("=")
        if name.strip() == "algorithm" and value.strip():
            return value.strip().upper()
    return "HMAC_SHA1"


def _covered_body(call: RawCall) -> bytes | None:
    """What of the body is part of the signed text; None when the body is not what the address says."""
    if not call.body:
        return b""
    if call.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return _sorted_fields(call.body)
    announced = call.query.get("bodySHA256", "")
    return b"" if same(announced.lower(), hashlib.sha256(call.body).hexdigest()) else None


def _sorted_fields(body: bytes) -> bytes:
    pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    return "".join(name + value for name, value in sorted(set(pairs))).encode("latin-1")


def _addresses(call: RawCall) -> Iterator[bytes]:
    """The address as it may have been signed: with and without its port, and under the host as called.

    A proxy in front may end TLS and keep the Host header, so the host that the caller named counts under
    both schemes. The secret covers the address in any case, so this lets nothing unsigned through.
    """
    public = urlsplit(call.url)
    for address in (public, *_as_called(public, call.headers.get("host", ""))):
        yield from _with_and_without_port(address)


def _as_called(public: SplitResult, host: str) -> Iterator[SplitResult]:
    if host and host != public.netloc:
        yield public._replace(netloc=host)
        yield public._replace(netloc=host, scheme="http" if public.scheme == "https" else "https")


def _with_and_without_port(address: SplitResult) -> Iterator[bytes]:
    try:
        port = address.port
    except ValueError:
        return
    host = address.netloc.rpartition(":")[0] if port else address.netloc
    yield address._replace(netloc=host).geturl().encode()
    yield (
        address._replace(netloc=f"{host}:{port or _DEFAULT_PORTS.get(address.scheme, 80)}").geturl().encode()
    )
