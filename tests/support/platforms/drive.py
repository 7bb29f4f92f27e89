"""Google Drive and Google's token endpoint, as far as the channel uses them.

After https://developers.google.com/workspace/drive/api/reference/rest/v3
"""

import json
import re
from typing import Any

from tests.support.platforms.standin import Reply, Seen, StandIn, expect

CLIENT = {"clientId": "client.apps.example", "clientSecret": "client-secret", "refreshToken": "1//refresh"}
FOLDER = "0AbCdEfGhIjKlMnOp'x"
DOCUMENT = "application/vnd.google-apps.document"
PAGE = 3
"""Files on a page of a list, whatever was asked for."""
_QUERY = re.compile(
    r"'(?P<folder>(?:\\.|[^'\\])*)' in parents"
    r"(?: and appProperties has \{ key='(?P<key>[^']*)' and value='(?P<value>[^']*)' \})?"
    r" and trashed = false"
)


class Drive(StandIn):
    """`put` and `change` are what people do; `uploaded` is what was written, `watching` who is told."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, dict[str, Any]] = {}
        self.contents: dict[str, bytes] = {}
        self.uploaded: list[tuple[dict[str, Any], str, bytes]] = []
        self.watching: dict[str, dict[str, Any]] = {}
        self.stopped: list[str] = []
        self.tokens: set[str] = set()
        self.issued = 0
        self.scope = ""
        self.grant_error: str | None = None
        self.keeps_properties = True
        self._clock = 0

    # what people do

    def put(self, name: str, mime_type: str = "application/pdf", /, **changes: Any) -> str:
        """A file comes into the folder; Google-native ones have neither checksum nor size."""
        self._clock += 1
        file_id = f"file{len(self.files) + 1}"
        self.files[file_id] = {
            "id": file_id,
            "name": name,
            "mimeType": mime_type,
            "modifiedTime": f"2026-11-20T10:{self._clock:02d}:00.000Z",
            "version": "1",
            "webViewLink": f"https://drive.google.com/file/d/{file_id}/view?usp=drivesdk",
            "parents": [FOLDER],
            "trashed": False,
            "lastModifyingUser": {"displayName": "Maria Berg", "emailAddress": "maria@workshop.example"},
            **({} if mime_type == DOCUMENT else {"md5Checksum": f"md5-{self._clock}", "size": "1000"}),
            **changes,
        }
        return file_id

    def change(self, file_id: str, **changes: Any) -> None:
        """The content changes, or what `changes` says."""
        self._clock += 1
        file = self.files[file_id]
        stamp = {"modifiedTime": f"2026-11-20T10:{self._clock:02d}:00.000Z"}
        content = {"md5Checksum": f"md5-{self._clock}"} if "md5Checksum" in file else {}
        file.update({**stamp, **content, **changes, "version": str(int(file["version"]) + 1)})

    def touch(self, file_id: str) -> None:
        """Something changes that nobody sees: only the version grows."""
        self.files[file_id]["version"] = str(int(self.files[file_id]["version"]) + 1)

    # what the servers answer

    def answer(self, seen: Seen) -> Reply:
        if seen.path == "/token":
            return self._token(seen)
        if seen.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return error(401, "Invalid Credentials", "authError")
        if seen.path == "/upload/drive/v3/files":
            return self._upload(seen)
        expect(seen.path.startswith("/drive/v3/"), "no such resource")
        path = seen.path.removeprefix("/drive/v3/")
        if path == "files":
            return self._list(seen)
        if path == "changes/startPageToken":
            return Reply(json={"kind": "drive#startPageToken", "startPageToken": "77"})
        if path == "changes/watch":
            return self._watch(seen)
        if path == "channels/stop":
            return self._stop(seen.json)
        return self._file(path.removeprefix("files/"), seen)

    def _token(self, seen: Seen) -> Reply:
        form = seen.form
        expect(form.get("grant_type") == "refresh_token", "grant_type")
        given = (form.get("client_id"), form.get("client_secret"), form.get("refresh_token"))
        if self.grant_error or given != tuple(CLIENT.values()):
            return Reply(
                400, {"error": self.grant_error or "invalid_grant", "error_description": "Bad Request"}
            )
        self.issued += 1
        self.tokens.add(f"ya29.{self.issued}")
        token = {"access_token": f"ya29.{self.issued}", "expires_in": 3599, "token_type": "Bearer"}
        return Reply(json=token | ({"scope": self.scope} if self.scope else {}))

    def _list(self, seen: Seen) -> Reply:
        expect(seen.query.get("supportsAllDrives") == "true", "supportsAllDrives")
        expect(seen.query.get("includeItemsFromAllDrives") == "true", "includeItemsFromAllDrives")
        query = _QUERY.fullmatch(seen.query["q"])
        expect(query, f"q {seen.query['q']}")
        assert query is not None
        folder = re.sub(r"\\(.)", r"\1", query["folder"])
        if folder != FOLDER:
            return error(404, "File not found: .", "notFound")
        kept = list(self.files.values())  # people put files into the folder from other threads
        found = [each for each in kept if folder in each["parents"] and not each["trashed"]]
        if query["key"]:
            found = [
                each for each in found if each.get("appProperties", {}).get(query["key"]) == query["value"]
            ]
        start = int(seen.query.get("pageToken", "0"))
        following = {"nextPageToken": str(start + PAGE)} if start + PAGE < len(found) else {}
        return Reply(json={"files": found[start : start + PAGE], **following})

    def _file(self, path: str, seen: Seen) -> Reply:
        file_id, _, action = path.partition("/")
        if file_id == FOLDER:
            return Reply(json={"id": FOLDER, "mimeType": "application/vnd.google-apps.folder"})
        if file_id not in self.files:
            return error(404, f"File not found: {file_id}.", "notFound")
        is_native = self.files[file_id]["mimeType"] == DOCUMENT
        if action == "export":
            expect(is_native and seen.query.get("mimeType"), "export of a file that has content")
            return Reply(body=b"exported " + self.contents[file_id])
        if seen.query.get("alt") == "media":
            expect(not is_native, "fileNotDownloadable")
            return Reply(body=self.contents[file_id])
        return Reply(json=self.files[file_id])

    def _upload(self, seen: Seen) -> Reply:
        expect(seen.query.get("uploadType") == "multipart", "uploadType")
        kind, _, boundary = seen.headers["content-type"].partition("; boundary=")
        expect(kind == "multipart/related", "content-type")
        empty, head, content, end = seen.body.split(f"--{boundary}".encode())
        expect((empty, end) == (b"", b"--\r\n"), "parts")
        head_type, _, metadata_text = head.strip(b"\r\n").partition(b"\r\n\r\n")
        expect(b"application/json" in head_type, "metadata type")
        content_type, _, data = content.removeprefix(b"\r\n").removesuffix(b"\r\n").partition(b"\r\n\r\n")
        metadata = json.loads(metadata_text)
        for name, value in [*metadata["properties"].items(), *metadata["appProperties"].items()]:
            expect(len(name.encode()) + len(value.encode()) <= 124, "property too long")
        expect(metadata["parents"] == [FOLDER], "parents")
        self.uploaded.append((metadata, content_type.decode().partition(": ")[2], data))
        kept = dict(metadata)
        if not self.keeps_properties:
            del kept["properties"], kept["appProperties"]
        return Reply(json={"id": self.put(metadata["name"], metadata["mimeType"], **kept)})

    def _watch(self, seen: Seen) -> Reply:
        expect(seen.query.get("pageToken") == "77", "pageToken")
        channel = seen.json
        expect(channel["type"] == "web_hook" and len(channel["id"]) <= 64, "channel")
        expect(len(channel["token"]) <= 256, "token")
        expect(channel["expiration"].isdigit(), "expiration")
        if not channel["address"].startswith("https://"):
            return error(400, "WebHook callback must be HTTPS", "push.webhookUrlNotHttps")
        if channel["id"] in self.watching:
            return error(400, f"Channel id {channel['id']} not unique", "channelIdNotUnique")
        self.watching[channel["id"]] = channel
        return Reply(json={"kind": "api#channel", "id": channel["id"], "resourceId": "resource-1"})

    def _stop(self, body: dict[str, str]) -> Reply:
        if body["id"] not in self.watching or body["resourceId"] != "resource-1":
            return error(404, "Channel not found", "notFound")
        self.stopped.append(body["id"])
        del self.watching[body["id"]]
        return Reply(204)


def error(status: int, message: str, reason: str) -> Reply:
    """An error in Google's form."""
    return Reply(status, {"error": {"code": status, "message": message, "errors": [{"reason": reason}]}})
