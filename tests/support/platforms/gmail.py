"""Gmail's API and Google's token endpoint, as far as the channel uses them.

After https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.history/list and its neighbours.
"""

import base64
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any

from tests.support.platforms.standin import Reply, Seen, StandIn, expect

CLIENT = {"clientId": "client.apps.example", "clientSecret": "client-secret", "refreshToken": "1//refresh"}
ADDRESS = "agent@gmail.example"
PAGE = 2
"""Entries on a page of a list."""
_ROOT = "/gmail/v1/users/me/"


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Gmail(StandIn):
    """A mailbox whose history begins at `oldest`."""

    def __init__(self) -> None:
        super().__init__()
        self.history_id = 1000
        self.oldest = 1000
        self.mails: dict[str, dict[str, Any]] = {}
        self.added: list[tuple[int, str]] = []
        self.attachments: dict[str, bytes] = {}
        self.sent: list[tuple[str | None, Message]] = []
        self.tokens: set[str] = set()
        self.issued = 0
        self.scope = ""
        self.grant_error: str | None = None
        self.redirect_uri: str | None = None

    def arrive(self, mail_id: str, text: str = "Hello", **changes: Any) -> None:
        """A mail comes in; its payload is a plain text unless `payload` is given."""
        headers = {
            "From": "Ann <ann@client.example>",
            "Subject": "Question",
            "Message-ID": f"<{mail_id}@client.example>",
            **changes.pop("headers", {}),
        }
        payload = {
            "partId": "",
            "mimeType": "text/plain",
            "filename": "",
            "body": {"size": len(text), "data": b64(text.encode())},
            **changes.pop("payload", {}),
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
        }
        self.history_id += 1
        self.added.append((self.history_id, mail_id))
        self.mails[mail_id] = {
            "id": mail_id,
            "threadId": f"thread-{mail_id}",
            "labelIds": ["INBOX", "UNREAD"],
            "internalDate": "1760000000000",
            "payload": payload,
            **changes,
        }

    def forget_history(self) -> None:
        """As after a week: positions up to now are too old."""
        self.oldest = self.history_id = self.history_id + 100

    def answer(self, seen: Seen) -> Reply:
        if seen.path == "/token":
            return self._token(seen)
        if seen.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return _error(401, "Invalid Credentials", "authError")
        expect(seen.path.startswith(_ROOT), "no such resource")
        path = seen.path.removeprefix(_ROOT)
        if path == "messages/send":
            return self._send(seen)
        expect(seen.method == "GET", "GET only")
        if path == "profile":
            return Reply(json={"emailAddress": ADDRESS, "historyId": str(self.history_id)})
        if path == "history":
            return self._history(seen)
        if path == "messages":
            return self._search(seen)
        return self._message(path, seen)

    def _token(self, seen: Seen) -> Reply:
        form = seen.form
        expect(seen.method == "POST", "POST only")
        expect(form.get("grant_type") == "refresh_token", "grant_type")
        expect(form.get("redirect_uri") == self.redirect_uri, "redirect_uri")
        given = (form.get("client_id"), form.get("client_secret"), form.get("refresh_token"))
        expect(given == tuple(CLIENT.values()), "credentials")
        if self.grant_error:
            return Reply(400, {"error": self.grant_error, "error_description": "Token has been revoked."})
        self.issued += 1
        self.tokens.add(f"ya29.{self.issued}")
        token = {"access_token": f"ya29.{self.issued}", "expires_in": 3599, "token_type": "Bearer"}
        return Reply(json=token | ({"scope": self.scope} if self.scope else {}))

    def _history(self, seen: Seen) -> Reply:
        query = dict(seen.query)
        start = int(query["startHistoryId"])
        expect(query.get("historyTypes") == "messageAdded", "historyTypes")
        expect(query.get("labelId") == "INBOX", "labelId")
        expect(1 <= int(query.get("maxResults", "100")) <= 500, "maxResults")
        if start < self.oldest:
            return _error(404, "Requested entity was not found.", "notFound")
        records = [
            {"id": str(at), "messagesAdded": [{"message": {"id": name, "threadId": f"thread-{name}"}}]}
            for at, name in self.added
            if at > start
        ]
        return self._page("history", records, query, historyId=str(self.history_id))

    def _search(self, seen: Seen) -> Reply:
        query = dict(seen.query)
        expect(query["q"].startswith("newer_than:") and query["q"].endswith("d in:inbox"), "q")
        found = [{"id": name, "threadId": f"thread-{name}"} for name in reversed(list(self.mails))]
        return self._page("messages", found, query, resultSizeEstimate=len(found))

    @staticmethod
    def _page(name: str, entries: list[Any], query: dict[str, str], **more: Any) -> Reply:
        token = query.get("pageToken", "0")
        if not token.isdigit():
            return _error(400, "Invalid pageToken", "invalidArgument")
        start = int(token)
        body = {**({name: entries[start : start + PAGE]} if entries else {}), **more}
        if start + PAGE < len(entries):
            body["nextPageToken"] = str(start + PAGE)
        return Reply(json=body)

    def _message(self, path: str, seen: Seen) -> Reply:
        _, name, *rest = path.split("/")
        if rest:
            expect(rest[0] == "attachments", "no such resource")
            content = self.attachments[rest[1]]
            return Reply(json={"size": len(content), "data": b64(content)})
        expect(seen.query.get("format") == "full", "format")
        if name not in self.mails:
            return _error(404, "Requested entity was not found.", "notFound")
        return Reply(json=self.mails[name])

    def _send(self, seen: Seen) -> Reply:
        expect(seen.method == "POST", "POST only")
        expect(set(seen.json) <= {"raw", "threadId"}, "unknown fields")
        raw = seen.json["raw"]
        expect("+" not in raw and "/" not in raw, "raw is not base64url")
        mail = message_from_bytes(base64.urlsafe_b64decode(raw), policy=default)
        expect("@" in str(mail["To"]), "To")
        self.sent.append((seen.json.get("threadId"), mail))  # type: ignore[arg-type]
        return Reply(json={"id": f"sent-{len(self.sent)}", "threadId": seen.json.get("threadId")})


def _error(status: int, message: str, reason: str) -> Reply:
    errors = [{"domain": "global", "reason": reason, "message": message}]
    return Reply(status, {"error": {"code": status, "message": message, "errors": errors}})
