"""The Bot Framework and Teams, as far as the channel uses them: login, signing keys, connector, webhooks.

After https://learn.microsoft.com/en-us/azure/bot-service/rest-api/bot-framework-rest-connector-api-reference
"""

import json
from datetime import datetime
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.support.platforms.standin import Reply, Seen, StandIn, expect

APP_ID = "0d6f4c1e-8b7a-4f3e-9c2d-1a5b6c7d8e9f"
PASSWORD = "the~client~secret"
TENANT = "7d1d8a4c-52c2-4a0f-8f2f-3a9b8d0c6e55"
ISSUER = "https://api.botframework.com"
KID = "key-1"
_BODY_LIMIT = 21 * 1024


@cache
def private_key(name: str = KID) -> rsa.RSAPrivateKey:
    """A key of the test run; another name is another key."""
    assert name
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_jwk(kid: str = KID, endorsements: tuple[str, ...] | None = ("msteams",)) -> dict[str, Any]:
    """The public half as Microsoft publishes it."""
    jwk: dict[str, Any] = json.loads(RSAAlgorithm.to_jwk(private_key(kid).public_key()))
    jwk = {**jwk, "kid": kid, "x5t": kid, "use": "sig"}
    return jwk if endorsements is None else {**jwk, "endorsements": list(endorsements)}


def token(
    now: datetime,
    service_url: str,
    *,
    kid: str = KID,
    key: Any = None,
    algorithm: str = "RS256",
    drop: tuple[str, ...] = (),
    **changes: Any,
) -> str:
    """A bearer token such as the Bot Connector sends, signed by PyJWT."""
    issued = int(now.timestamp())
    claims = {
        "serviceurl": service_url,
        "iss": ISSUER,
        "aud": APP_ID,
        "nbf": issued,
        "exp": issued + 3600,
        **changes,
    }
    kept = {name: value for name, value in claims.items() if name not in drop}
    return jwt.encode(kept, key or private_key(kid), algorithm=algorithm, headers={"kid": kid})


class Teams(StandIn):
    """Keeps the activities by their ids, what replaced them, and what came to the incoming webhook."""

    def __init__(self) -> None:
        super().__init__()
        self.activities: dict[str, dict[str, Any]] = {}
        self.replies: list[tuple[str, dict[str, Any]]] = []
        self.typing: list[dict[str, Any]] = []
        self.cards: list[dict[str, Any]] = []
        self.tokens = 0
        self.tenants: list[str] = []
        self.kids = [KID]
        self.is_emulator = False

    def answer(self, seen: Seen) -> Reply:
        if seen.path == "/v1/.well-known/openidconfiguration":
            keys = f"{self.url}/v1/.well-known/keys"
            return Reply(
                json={"issuer": ISSUER, "jwks_uri": keys, "id_token_signing_alg_values_supported": ["RS256"]}
            )
        if seen.path == "/v1/.well-known/keys":
            return Reply(json={"keys": [public_jwk(kid) for kid in self.kids]})
        if seen.path.endswith("/oauth2/v2.0/token"):
            return self._login(seen)
        if seen.path.startswith("/webhook"):
            return self._webhook(seen)
        return self._connector(seen)

    def _login(self, seen: Seen) -> Reply:
        form = seen.form
        expect(form.get("grant_type") == "client_credentials", "grant_type")
        expect(form.get("scope") == "https://api.botframework.com/.default", "scope")
        if (form.get("client_id"), form.get("client_secret")) != (APP_ID, PASSWORD):
            return Reply(
                401, {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret"}
            )
        self.tokens += 1
        self.tenants.append(seen.path.split("/")[1])
        return Reply(
            json={"token_type": "Bearer", "expires_in": 3599, "access_token": f"access{self.tokens}"}
        )

    def _webhook(self, seen: Seen) -> Reply:
        expect(seen.method == "POST", "method")
        expect(len(seen.body) <= _BODY_LIMIT, "over 21 KB")
        self.cards.append(seen.json)
        return Reply(202)

    def _connector(self, seen: Seen) -> Reply:
        if self.is_emulator:
            expect("authorization" not in seen.headers, "a token for an emulator")
        elif seen.headers.get("authorization") != f"Bearer access{self.tokens}":
            return Reply(401, {"message": "Authorization has been denied for this request."})
        if seen.path == "/v3/attachments/1/views/original":
            return Reply(body=b"picture")
        parts = seen.path.split("/")
        expect(parts[1:3] == ["v3", "conversations"] and parts[4] == "activities", seen.path)
        expect(len(seen.body) <= 40 * 1024, "over 40 KB")
        if seen.method in ("PUT", "DELETE") and parts[5] in self.gone:
            error = {"code": "ActivityNotFoundInConversation", "message": "Message does not exist."}
            return Reply(404, {"error": error})
        if seen.method == "DELETE":
            self.gone.add(parts[5])
            return Reply(200)
        activity = seen.json
        expect(activity["conversation"]["id"] == parts[3], "conversation")
        below = parts[5] if len(parts) > 5 else ""
        if seen.method == "PUT":
            expect(below, "activity id")
            self.activities[below] = activity
            return Reply(json={"id": below})
        expect(seen.method == "POST", "method")
        return self._take(activity, below)

    def visible(self) -> dict[str, str]:
        shown = ((number, sent) for number, sent in self.activities.items() if number not in self.gone)
        return {number: sent.get("text") or json.dumps(sent.get("attachments")) for number, sent in shown}

    def _take(self, activity: dict[str, Any], below: str) -> Reply:
        expect(self.is_emulator or activity["from"]["id"].startswith("28:"), "from")
        if activity["type"] == "typing":
            self.typing.append(activity)
            return Reply(202, {"id": "1"})
        expect(activity["type"] == "message", "type")
        expect(activity.get("text") or activity.get("attachments"), "empty message")
        activity_id = f"1:{len(self.activities) + 1}"
        self.activities[activity_id] = activity
        self.replies.append((below, activity))
        return Reply(201, {"id": activity_id})
