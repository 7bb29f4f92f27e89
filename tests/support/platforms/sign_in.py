"""The OAuth endpoints of Slack, Discord and Mattermost, as far as verification uses them."""

import base64
import hashlib
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.support.platforms.standin import Reply, Seen, StandIn, expect

CLIENT_ID = "client-1"
CLIENT_SECRET = "s3cret"


@dataclass
class Grant:
    redirect_uri: str
    challenge: str | None
    user: dict[str, object]


class SignIn(StandIn):
    """`agree` is what a user does in the browser; the codes it gives are good once."""

    def __init__(self) -> None:
        super().__init__()
        self.grants: dict[str, Grant] = {}
        self.tokens: dict[str, dict[str, object]] = {}
        self.browser_user: dict[str, object] | None = None
        """Who is signed in in the browser; None declines."""

    def agree(self, auth_url: str, **user: object) -> dict[str, str]:
        """The user signs in: the query of the redirect back."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(auth_url).query).items()}
        assert auth_url.startswith(f"{self.url}/authorize?")
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT_ID
        code = f"code-{len(self.grants)}"
        self.grants[code] = Grant(query["redirect_uri"], query.get("code_challenge"), user)
        return {"state": query["state"], "code": code}

    def answer(self, seen: Seen) -> Reply:
        if seen.path == "/token":
            return self._token(seen)
        if seen.path == "/authorize":
            return self._back(seen)
        expect((seen.method, seen.path) == ("GET", "/me"), "no such resource")
        user = self.tokens.get(seen.headers.get("authorization", "").removeprefix("Bearer "))
        return Reply(json=user) if user is not None else Reply(401, {"error": "invalid_auth"})

    def _back(self, seen: Seen) -> Reply:
        """The redirect by which the browser comes back."""
        address = f"{self.url}/authorize?{urlencode(seen.query)}"
        if self.browser_user is None:
            query = {"state": seen.query["state"], "error": "access_denied"}
        else:
            query = self.agree(address, **self.browser_user)
        return Reply(302, headers={"Location": f"{seen.query['redirect_uri']}?{urlencode(query)}"})

    def _token(self, seen: Seen) -> Reply:
        form = seen.form
        expect(seen.method == "POST", "POST only")
        expect(form.get("grant_type") == "authorization_code", "grant_type")
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            return Reply(401, {"error": "invalid_client"})
        grant = self.grants.pop(form.get("code", ""), None)
        if grant is None:
            return Reply(400, {"error": "invalid_grant", "secret": "must not be logged"})
        expect(form.get("redirect_uri") == grant.redirect_uri, "redirect_uri")
        if grant.challenge is not None:
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            made = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            expect(made == grant.challenge, "code_verifier")
        token = f"token-{len(self.tokens)}"
        self.tokens[token] = grant.user
        return Reply(json={"ok": True, "access_token": token, "token_type": "Bearer"})
