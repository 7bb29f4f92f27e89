"""Twilio's Messages resource and account, as far as the channel uses them.

After https://www.twilio.com/docs/messaging/api/message-resource
"""

import base64
import re

from tests.support.platforms.standin import Reply, Seen, StandIn, expect

ACCOUNT = "AC00000000000000000000000000000001"
TOKEN = "0123456789abcdef0123456789abcdef"
_FIELDS = {"To", "From", "MessagingServiceSid", "Body", "MediaUrl", "StatusCallback"}
_PHONE = re.compile(r"(whatsapp:)?\+[1-9]\d{4,14}|\d{3,8}")


class Twilio(StandIn):
    """Keeps what was sent in `messages`."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, str]] = []
        self.media = {"/media/ME1": b"\x89PNG picture"}

    def answer(self, seen: Seen) -> Reply:
        if seen.path in self.media:
            return Reply(body=self.media[seen.path])
        expected = "Basic " + base64.b64encode(f"{ACCOUNT}:{TOKEN}".encode()).decode()
        if seen.headers.get("authorization") != expected:
            return Reply(401, {"code": 20003, "message": "Authenticate", "status": 401})
        account = f"/2010-04-01/Accounts/{ACCOUNT}"
        if (seen.method, seen.path) == ("GET", f"{account}.json"):
            return Reply(json={"sid": ACCOUNT, "status": "active", "friendly_name": "Shop"})
        expect((seen.method, seen.path) == ("POST", f"{account}/Messages.json"), "no such resource")
        return self._message(seen)

    def _message(self, seen: Seen) -> Reply:
        form = seen.form
        expect(seen.headers["content-type"].startswith("application/x-www-form-urlencoded"), "not a form")
        expect(set(form) <= _FIELDS, f"unknown fields {set(form) - _FIELDS}")
        expect(_PHONE.fullmatch(form.get("To", "")), "To")
        expect(("From" in form) != ("MessagingServiceSid" in form), "exactly one sender")
        expect("Body" in form or "MediaUrl" in form, "nothing to send")
        expect(form.get("Body", "x") != "", "empty Body")
        expect(len(form.get("Body", "")) <= 1600, "21617 body too long")
        if "StatusCallback" in form:
            host = form["StatusCallback"].split("/")[2]
            expect("." in host and "_" not in host, "21609 StatusCallback")
        self.messages.append(form)
        return Reply(201, {"sid": f"SM{len(self.messages):032d}", "status": "queued", "error_code": None})
