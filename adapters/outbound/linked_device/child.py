"""The device's own process: neonize on one side, lines of JSON on the other.

A crash of the native library ends this process alone. Requests come on standard input as
`{"id", "do", ...}`, answers go out as `{"id", "ok"}` or `{"id", "error"}`, events as `{"event", ...}`.
Run as: python -m adapters.outbound.linked_device.child DATABASE
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from adapters.outbound.linked_device.contents import album_of, media_of, seconds, text_of

READY_WAIT = 15.0
"""Seconds until the connection is up, or a code cannot be asked for."""


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
        self._numbers = itertools.count(1)
        self.deeds = {
            "connect": self.connect,
            "pair": self.pair,
            "logout": self.logout,
            "send": self.send,
            "typing": self.typing,
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
        """A client under a name of its own: the library ends what bears the name of a client that is thrown
        away, which must not be the one that took its place."""
        from neonize import events
        from neonize.client import NewClient

        client = NewClient(self._database, uuid=f"device-{next(self._numbers)}")
        client.event(events.ConnectedEv)(lambda *_: self._linked())
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

    def _linked(self) -> None:
        self._ready.set()
        self._tell("linked")

    def _unlinked(self) -> None:
        """The library offers a QR code: the connection is up and no account is linked."""
        if not self._ready.is_set():
            self._ready.set()
            self._tell("unlinked")

    def pair(self, request: dict[str, Any]) -> str:
        """The library hangs up when nobody has entered a code for some minutes, and does not say so."""
        if self._client is not None and self._ready.is_set() and not self._client.is_connected:
            self.connect({})
        if not self._ready.wait(READY_WAIT):
            raise RuntimeError("the messaging service cannot be reached")
        return str(self._client.PairPhone(request["phone"], True))

    def logout(self, _: dict[str, Any]) -> None:
        """Unlinks the account and forgets; begins again with a fresh device.

        Where the account cannot be told, as the connection cannot be made, the state is forgotten all the same.
        """
        if self._client is None and Path(self._database).exists():
            self.connect({})
            self._ready.wait(READY_WAIT)
        try:
            if self._client is not None and self._client.is_logged_in:
                self._client.logout()
        finally:
            self._stop()
            for path in Path(self._database).parent.glob(Path(self._database).name + "*"):
                path.unlink(missing_ok=True)
            self.connect({})

    def send(self, request: dict[str, Any]) -> str:
        message = self._file(request) if request.get("path") else request["text"]
        return str(self._client.send_message(_address(request), message).ID)

    def typing(self, request: dict[str, Any]) -> None:
        from neonize.utils.enum import ChatPresence, ChatPresenceMedia

        state, media = ChatPresence.CHAT_PRESENCE_COMPOSING, ChatPresenceMedia.CHAT_PRESENCE_MEDIA_TEXT
        self._client.send_chat_presence(_address(request), state, media)

    def _file(self, request: dict[str, Any]) -> Any:
        """A file as what it is; as a document where it cannot be read as that: the library needs ffmpeg for
        video and audio, and knows few forms of pictures."""
        from neonize.exc import NeonizeError

        client, path, mime_type = self._client, request["path"], str(request.get("mime") or "")
        native = {
            "image": client.build_image_message,
            "video": client.build_video_message,
            "audio": client.build_audio_message,
        }.get(mime_type.partition("/")[0])
        if native is not None:
            try:
                return native(path)
            except NeonizeError:
                raise
            except Exception as failure:  # noqa: BLE001 - whatever the readers of pictures and ffmpeg raise
                sys.stderr.write(f"sent as a document: {type(failure).__name__}\n")
        return client.build_document_message(path, filename=request["name"], mimetype=mime_type)

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
            text=text_of(received.Message),
            at=seconds(info.Timestamp),
            fromMe=source.IsFromMe,
            group=source.IsGroup,
            media=media_of(received.Message),
            album=album_of(received.Message),
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


def _address(request: dict[str, Any]) -> Any:
    from neonize.utils.jid import build_jid

    user, _, server = request["chat"].partition("@")
    return build_jid(user, server or "s.whatsapp.net")


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
