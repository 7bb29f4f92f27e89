"""Proof of origin of a Teams call: the bearer token that the Bot Framework signs.

Source: https://learn.microsoft.com/en-us/azure/bot-service/rest-api/bot-framework-rest-connector-authentication
(section "Authenticate requests from the Bot Connector service to your bot").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import jwt

from adapters.outbound.channels.common.bodies import at, items, same, text
from domain.channels.messages import ChannelMetadata, RawCall
from domain.refusals import Forbidden, Unauthenticated, Unavailable
from ports.channels import StaleMetadata

ALGORITHM = "RS256"
LEEWAY = 300.0
"""Seconds by which clocks may differ, as Microsoft documents."""

_MAX_TOKEN = 16_384


@dataclass(frozen=True, slots=True)
class Proof:
    """The claims of a token that is good, and the key that signed it."""

    claims: Mapping[str, Any]
    key: Mapping[str, Any]

    def check_activity(self, activity: Mapping[str, Any]) -> None:
        """A token is bound to one service URL, and its key to the channels that endorse it. Raises `Forbidden`."""
        bound = text(self.claims, "serviceurl") or text(self.claims, "serviceUrl")
        if not bound or not same(bound.rstrip("/"), text(activity, "serviceUrl").rstrip("/")):
            raise Forbidden("The bearer token is for another serviceUrl than the activity's.")
        endorsed = at(self.key, "endorsements")
        if isinstance(endorsed, list) and text(activity, "channelId") not in endorsed:
            raise Forbidden("The key of the bearer token does not speak for the activity's channelId.")


def prove(app_id: str, call: RawCall, known: ChannelMetadata, now: datetime) -> Proof:
    """Checks the token of a call against the keys in `known`, before anybody reads the body.

    Raises `Unauthenticated`, `StaleMetadata` (signed with a key that is not known yet), `Unavailable` (no keys could
    be fetched).
    """
    token = _bearer(call)
    header = _header(token)
    key = _key(text(header, "kid"), known)
    claims = _claims(token, key)
    _check_audience(claims, app_id, known)
    _check_time(claims, now)
    return Proof(claims, key)


def _bearer(call: RawCall) -> str:
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip() or len(token) > _MAX_TOKEN:
        raise Unauthenticated("The call has no bearer token of the Bot Framework.")
    return token.strip()


def _header(token: str) -> Mapping[str, Any]:
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, RecursionError):  # PyJWT reads the header's JSON whatever its nesting
        raise Unauthenticated("The bearer token is not a JSON Web Token.") from None
    if header.get("alg") != ALGORITHM:
        raise Unauthenticated(f"The bearer token is not signed with {ALGORITHM}.")
    return header


def _key(kid: str, known: ChannelMetadata) -> Mapping[str, Any]:
    keys = [key for key in items(known, "keys") if text(key, "kty") == "RSA"]
    if not keys:
        raise Unavailable("The Bot Framework's signing keys could not be fetched; try again.")
    found = next((key for key in keys if kid and text(key, "kid") == kid), None)
    if found is None:
        raise StaleMetadata("The bearer token is signed with an unknown key.")
    return found  # type: ignore[no-any-return]


def _claims(token: str, key: Mapping[str, Any]) -> Mapping[str, Any]:
    """The claims of a token whose signature is right. Times are checked apart, by the clock of the call."""
    options: Any = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False}
    try:
        public = jwt.PyJWK(dict(key), algorithm=ALGORITHM)
        claims: Mapping[str, Any] = jwt.decode(token, public, algorithms=[ALGORITHM], options=options)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise Unauthenticated("The signature of the bearer token is wrong.") from None
    return claims


def _check_audience(claims: Mapping[str, Any], app_id: str, known: ChannelMetadata) -> None:
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if not any(same(str(each), app_id) for each in audiences):
        raise Unauthenticated("The bearer token is for another app: its audience is not appId.")
    if not same(text(claims, "iss"), text(known, "issuer")):
        raise Unauthenticated("The bearer token has another issuer than the Bot Framework.")


def _check_time(claims: Mapping[str, Any], now: datetime) -> None:
    ends = _moment(claims.get("exp"))
    begins = _moment(claims["nbf"]) if "nbf" in claims else float("-inf")
    present = now.astimezone(UTC).timestamp()
    if ends is None or begins is None or present >= ends + LEEWAY or present < begins - LEEWAY:
        raise Unauthenticated("The bearer token is not valid now: it has ended or not begun.")


def _moment(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
