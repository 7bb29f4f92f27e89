"""The device's own process: neonize on one side, lines of JSON on the other.

A crash of the native library ends this process alone. Requests come on standard input as
`{"id", "do", ...}`, answers go out as `{"id", "ok"}` or `{"id", "error"}`, events as `{"event", ...}`.
Run as: python -m adapters.outbound.linked_device.child DATABASE
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

MEDIA = {
    "imageMessage": "image",
    "videoMessage": "video",
    "audioMessage": "audio",
    "documentMessage": "document",
}


class Lines:
    """Writes whole lines to the standard output that was there first: the library prints to the present one."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def write(self, **fields: Any) -> None:
        with self._lock:
            self._out.write(json.dumps(fields) + "\n")
            self._out.flush()


class Device:
    """One neonize client and what it tells."""

    def __init__(self, database: str, lines: Lines) -> None:
        self._database = database
        self._lines = lines
        self._client: Any = None
        self._ready = threading.Event()
        self.deeds = {
            "connect": self.connect,
            "pair": self.pair,
            "logout": self.logout,
            "send": self.send,
            "download": self.download,
        }

    def connect(self, _: dict[str, Any]) -> None:
        """Starts a client in a thread of its own; the library's call returns only when it is stopped."""
        self._stop()
        self._ready.clear()
        client = self._made()
        self._client = client
        threading.Thread(target=self._run, args=(client,), daemon=True).start()

    def _made(self) -> Any:
        from neonize import events
        from neonize.client import NewClient

        client = NewClient(self._database)
        client.event(events.ConnectedEv)(lambda *_: self._tell("linked"))
        client.event(events.LoggedOutEv)(lambda _, each: self._tell("logged_out", reason=str(each.Reason)))
        client.event(events.DisconnectedEv)(lambda *_: self._tell("dropped", reason="disconnected"))
        client.event(events.StreamReplacedEv)(lambda *_: self._tell("dropped", reason="stream replaced"))
        client.event(events.TemporaryBanEv)(lambda _, e: self._tell("dropped", reason=f"banned: {e.Code}"))
        client.event(events.ClientOutdatedEv)(lambda *_: self._tell("dropped", reason="client outdated"))
        client.event(events.ConnectFailureEv)(
            lambda _, e: self._tell("dropped", reason=f"refused: {e.Message}")
        )
        client.event(events.MessageEv)(lambda _, each: self._message(each))
        client.qr(lambda *_: self._unlinked())
        return client

    def _run(self, client: Any) -> None:
        try:
            client.connect()
        except Exception as failure:  # noqa: BLE001 - told to the parent
            if client is self._client:
                self._tell("dropped", reason=str(failure)[:300])

    def _unlinked(self) -> None:
        """The library offers a QR code: the connection is up and no account is linked."""
        if not self._ready.is_set():
            self._ready.set()
            self._tell("unlinked")

    def pair(self, request: dict[str, Any]) -> str:
        if not self._ready.wait(15):
            raise RuntimeError("the messaging service cannot be reached")
        return str(self._client.PairPhone(request["phone"], True))

    def logout(self, _: dict[str, Any]) -> None:
        """Unlinks and forgets; begins again with a fresh device."""
        if self._client is not None and self._client.is_logged_in():
            self._client.logout()
        self._stop()
        for path in Path(self._database).parent.glob(Path(self._database).name + "*"):
            path.unlink(missing_ok=True)
        self.connect({})

    def send(self, request: dict[str, Any]) -> str:
        from neonize.utils.jid import build_jid

        user, _, server = request["chat"].partition("@")
        to = build_jid(user, server or "s.whatsapp.net")
        path, kind = request.get("path"), str(request.get("mime") or "").partition("/")[0]
        if not path:
            return str(self._client.send_message(to, request["text"]).ID)
        if kind == "image":
            return str(self._client.send_image(to, path).ID)
        if kind == "video":
            return str(self._client.send_video(to, path).ID)
        if kind == "audio":
            return str(self._client.send_audio(to, path).ID)
        return str(
            self._client.send_document(to, path, filename=request["name"], mimetype=request["mime"]).ID
        )

    def download(self, request: dict[str, Any]) -> None:
        from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import Message

        message = Message.FromString(base64.b64decode(request["message"]))
        self._client.download_any(message, request["path"])

    def _stop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.stop()

    def _tell(self, event: str, **fields: Any) -> None:
        self._lines.write(event=event, **fields)

    def _message(self, received: Any) -> None:
        info, source = received.Info, received.Info.MessageSource
        self._tell(
            "message",
            id=info.ID,
            chat=f"{source.Chat.User}@{source.Chat.Server}",
            senders=self._sender_ids(source),
            name=info.Pushname,
            text=_text(received.Message),
            at=_seconds(info.Timestamp),
            fromMe=source.IsFromMe,
            group=source.IsGroup,
            media=_media(received.Message),
        )

    def _sender_ids(self, source: Any) -> list[str]:
        """The phone number first: senders may come under a hidden id (LID) that stands for it."""
        from neonize.exc import NeonizeError

        known = [jid for jid in (source.Sender, source.SenderAlt) if jid.User]
        for jid in list(known):
            if jid.Server == "lid":
                with contextlib.suppress(NeonizeError):  # the number is not known: the hidden id stays
                    known.append(self._client.get_pn_from_lid(jid))
        known.sort(key=lambda jid: jid.Server != "s.whatsapp.net")
        return list(dict.fromkeys(jid.User for jid in known if jid.User))


def _inner(message: Any) -> Any:
    """The message inside wrappers for disappearing messages and captions."""
    for name in ("ephemeralMessage", "viewOnceMessage", "viewOnceMessageV2", "documentWithCaptionMessage"):
        if message.HasField(name):
            return _inner(getattr(message, name).message)
    return message


def _text(message: Any) -> str:
    inner = _inner(message)
    if inner.conversation:
        return str(inner.conversation)
    if inner.HasField("extendedTextMessage"):
        return str(inner.extendedTextMessage.text)
    for name in MEDIA:
        if inner.HasField(name) and hasattr(getattr(inner, name), "caption"):
            return str(getattr(inner, name).caption)
    return ""


def _media(message: Any) -> list[dict[str, Any]]:
    inner = _inner(message)
    found = []
    for name, kind in MEDIA.items():
        if inner.HasField(name):
            media = getattr(inner, name)
            found.append(
                {
                    "name": getattr(media, "fileName", "") or f"{kind}",
                    "mime": media.mimetype.partition(";")[0] or "application/octet-stream",
                    "size": media.fileLength or None,
                    "message": base64.b64encode(inner.SerializeToString()).decode(),
                }
            )
    return found


def _seconds(timestamp: int) -> float:
    """Some versions tell milliseconds."""
    return timestamp / 1000 if timestamp > 10**11 else float(timestamp)


def main(database: str) -> None:
    """Answers requests until standard input ends."""
    lines = Lines()
    device = Device(database, lines)
    for line in sys.stdin:
        threading.Thread(target=_answer, args=(device, lines, json.loads(line)), daemon=True).start()
    os._exit(0)  # the library's threads do not end by themselves


def _answer(device: Device, lines: Lines, request: dict[str, Any]) -> None:
    try:
        result = device.deeds[request["do"]](request)
    except Exception as failure:  # noqa: BLE001 - told to the parent
        words = str(failure) if isinstance(failure, RuntimeError) else f"{type(failure).__name__}: {failure}"
        lines.write(id=request["id"], error=words[:500])
    else:
        lines.write(id=request["id"], ok=result)


if __name__ == "__main__":
    main(sys.argv[1])
