"""Meta's Graph API for WhatsApp, for tests: it checks what it is sent.

After https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
"""

import re
from typing import Any

from tests.support.platforms.forms import Uploaded, multipart
from tests.support.platforms.standin import Reply, Seen, StandIn, expect

NUMBER_ID = "106540000000001"
TOKEN = "EAAtest"
SECRET = "0123456789abcdef0123456789abcdef"

_KINDS = {"template", "text", "image", "video", "audio", "document", "interactive", "location", "contacts"}
_GROUP_KINDS = _KINDS - {"interactive", "location", "contacts"}
_SCOPED = re.compile(r"[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}")
_DOCUMENTS = ("image/", "video/", "audio/", "text/plain", "application/pdf")


class WhatsApp(StandIn):
    """Keeps messages, uploads and read marks."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.read: list[dict[str, Any]] = []
        self.media: dict[str, Uploaded] = {}
        self.shared = {"M1": b"\x89PNG picture"}
        self.version = "v21.0"

    def answer(self, seen: Seen) -> Reply:
        if seen.headers.get("authorization") != f"Bearer {TOKEN}":
            return refusal(401, 190, "Invalid OAuth access token")
        if seen.path.startswith("/lookaside/"):
            return Reply(body=self.shared[seen.path.rsplit("/", 1)[-1]])
        expect(seen.path.startswith(f"/{self.version}/"), f"version in {seen.path}")
        node, _, edge = seen.path.removeprefix(f"/{self.version}/").partition("/")
        if seen.method == "GET":
            return self._node(node, seen)
        expect(node == NUMBER_ID, "phone number id")
        return self._uploaded(seen) if edge == "media" else self._message(edge, seen.json)

    def _node(self, node: str, seen: Seen) -> Reply:
        if node == NUMBER_ID:
            return Reply(json={"verified_name": "Engines", "id": node})
        if node not in self.shared:
            return refusal(400, 100, "Unsupported get request")
        expect(seen.query == {"phone_number_id": NUMBER_ID}, "phone_number_id")
        return Reply(
            json={"url": f"{self.url}/lookaside/{node}", "id": node, "messaging_product": "whatsapp"}
        )

    def _uploaded(self, seen: Seen) -> Reply:
        form = multipart(seen)
        expect(set(form) == {"messaging_product", "type", "file"}, f"fields {set(form)}")
        expect(form["messaging_product"].content == b"whatsapp", "messaging_product")
        file = form["file"]
        expect(form["type"].content.decode() == file.mime_type, "type")
        if not file.content or not file.mime_type.startswith(_DOCUMENTS):
            return refusal(400, 100, "Param file must be a file with one of the following types: ...")
        media_id = f"media{len(self.media) + 1}"
        self.media[media_id] = file
        return Reply(json={"id": media_id})

    def _message(self, edge: str, body: dict[str, Any]) -> Reply:
        expect(edge == "messages", f"edge {edge}")
        expect(body.pop("messaging_product", "") == "whatsapp", "messaging_product")
        if body.get("status") == "read":
            expect(set(body) == {"status", "message_id", "typing_indicator"}, f"fields {set(body)}")
            self.read.append(body)
            return Reply(json={"success": True})
        receiver = body.pop("recipient_type", "")
        expect(receiver in ("individual", "group"), "recipient_type")
        expect(receiver == "individual" or body.get("type") in _GROUP_KINDS, "kinds of groups")
        key = body.pop("biz_opaque_callback_data", "")
        expect(1 <= len(key) <= 512, "biz_opaque_callback_data")
        self.keys.append(key)
        receivers = {"to", "recipient"} & set(body)
        expect(len(receivers) == 1, "one receiver")
        address = r"\d{5,15}" if receiver == "individual" else r"[\w=-]{10,100}"
        expect(re.fullmatch(address, body.get("to", "16505550000")), "to")
        expect(_SCOPED.fullmatch(body.get("recipient", "US.1")), "recipient")
        kind = body.get("type", "")
        expect(kind in _KINDS and set(body) == {*receivers, "type", kind}, f"fields {set(body)}")
        _check(kind, body[kind], self.media)
        self.messages.append(body)
        return Reply(
            json={"messaging_product": "whatsapp", "messages": [{"id": f"wamid.{len(self.messages)}"}]}
        )


def refusal(status: int, code: int, message: str, **more: Any) -> Reply:
    error = {
        "message": f"(#{code}) {message}",
        "type": "OAuthException",
        "code": code,
        "fbtrace_id": "A",
        **more,
    }
    return Reply(status, {"error": error})


def _check(kind: str, content: dict[str, Any], media: dict[str, Uploaded]) -> None:
    if kind == "text":
        expect(set(content) <= {"body", "preview_url"}, "fields of text")
        expect(1 <= len(content["body"]) <= 4096, "text.body")
    elif kind == "interactive":
        _check_interactive(content)
    elif kind == "template":
        expect(
            {"name", "language"} <= set(content) <= {"name", "language", "components"}, "fields of template"
        )
        expect(set(content["language"]) == {"code"}, "template.language")
        for component in content.get("components", []):
            expect(component["type"] == "body" and component["parameters"], "components")
            expect(all(set(each) == {"type", "text"} for each in component["parameters"]), "parameters")
    elif kind == "location":
        expect({"latitude", "longitude"} <= set(content), "location")
    elif kind == "contacts":
        expect(
            all(each["name"]["formatted_name"] and each["name"]["first_name"] for each in content), "contacts"
        )
    elif "link" in content:
        expect(set(content) <= {"link", "caption"} and len(content.get("caption", "")) <= 1024, "image")
    else:
        expect(content["id"] in media, "media id")
        expect(set(content) <= {"id", "caption", "filename"}, "fields of media")
        expect(kind == "document" or media[content["id"]].mime_type.startswith(kind), "kind of media")


def _check_interactive(content: dict[str, Any]) -> None:
    expect(1 <= len(content["body"]["text"]) <= 1024, "interactive.body")
    action = content["action"]
    if content["type"] == "cta_url":
        expect(set(action) == {"name", "parameters"} and action["name"] == "cta_url", "cta_url")
        expect(1 <= len(action["parameters"]["display_text"]) <= 20, "display_text")
        return
    if content["type"] == "list":
        expect(1 <= len(action["button"]) <= 20, "button of a list")
        options = [row for section in action["sections"] for row in section["rows"]]
        expect(1 <= len(options) <= 10, "one to ten rows")
        expect(all(1 <= len(row.get("description", "-")) <= 72 for row in options), "row.description")
        longest_id, longest_title = 200, 24
    else:
        expect(content["type"] == "button" and len(action["buttons"]) <= 3, "one to three buttons")
        expect(all(each["type"] == "reply" for each in action["buttons"]), "button.type")
        options = [each["reply"] for each in action["buttons"]]
        longest_id, longest_title = 256, 20
    titles = [each["title"] for each in options]
    expect(len(set(titles)) == len(titles) >= 1, "titles are unique")
    expect(all(1 <= len(title) <= longest_title for title in titles), "title")
    expect(all(1 <= len(each["id"]) <= longest_id for each in options), "id")
