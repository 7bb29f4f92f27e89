"""The device's own process: neonize on one side, lines of JSON on the other.

A crash of the native library ends this process alone. Requests come on standard input as
`{"id", "command", ...}`, answers go out as `{"id", "ok"}` or `{"id", "error"}`, events as `{"event", ...}`.
Run as: python -m adapters.outbound.channels.linked_device_messaging.child DATABASE
"""

import base64
import contextlib
import itertools
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from .contents import album_of, context_of, media_of, original_of, seconds, text_of, unreadable_kind

READY_WAIT = 15.0
"""Seconds until the connection is up, or a code cannot be requested."""


class Lines:
    """Writes whole lines to the original standard output: the library prints to the present one."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def write(self, **fields: Any) -> None:
        with self._lock:
            self._out.write(json.dumps(fields) + "\n")
            self._out.flush()


class Device:
    """One neonize client and its events."""

    def __init__(self, database: str, lines: Lines) -> None:
        self._database = database
        self._lines = lines
        self.client: Any = None
        self._ready = threading.Event()
        self._numbers = itertools.count(1)
        commands = (self.connect, self.pair, self.logout, self.send, self.typing, self.download)
        self.commands = {command.__name__: command for command in commands}

    def connect(self, _: dict[str, Any]) -> None:
        """Starts a client in a thread of its own; the library's call returns only when it is stopped."""
        self._stop()
        self._ready.clear()
        self.create_client()
        client = self.client

        def run() -> None:
            try:
                client.connect()
            except Exception as error:  # noqa: BLE001 - reported to the parent
                if client is self.client:
                    self._emit("dropped", reason=str(error)[:300])

        threading.Thread(target=run, daemon=True).start()

    def create_client(self) -> None:
        """Creates the client under a name of its own: the library ends whatever has the name of a discarded client,
        which must not be its successor."""
        from neonize import events
        from neonize.client import NewClient

        client = NewClient(self._database, uuid=f"device-{next(self._numbers)}")
        drops = {
            events.DisconnectedEv: lambda _: "disconnected",
            events.StreamReplacedEv: lambda _: "stream replaced",
            events.TemporaryBanEv: lambda event: f"banned: {event.Code}",
            events.ClientOutdatedEv: lambda _: "client outdated",
            events.ConnectFailureEv: lambda event: f"refused: {event.Message}",
        }
        for kind, reason in drops.items():
            client.event(kind)(lambda _, event, reason=reason: self._emit("dropped", reason=reason(event)))
        client.event(events.LoggedOutEv)(lambda _, event: self._emit("logged_out", reason=str(event.Reason)))
        client.event(events.ConnectedEv)(lambda *_: self.on_linked())
        client.event(events.MessageEv)(lambda _, event: self._on_message(event))
        client.qr(lambda *_: self.on_qr_code())
        self.client = client

    def on_linked(self) -> None:
        self._ready.set()
        self._emit("linked")

    def on_qr_code(self) -> None:
        """The library offers a QR code: the connection is up and no account is linked."""
        if not self._ready.is_set():
            self._ready.set()
            self._emit("unlinked")

    def pair(self, request: dict[str, Any]) -> str:
        """The library disconnects when nobody has entered a code for some minutes, and does not say so."""
        if self.client is not None and self._ready.is_set() and not self.client.is_connected:
            self.connect({})
        if not self._ready.wait(READY_WAIT):
            raise RuntimeError("the messaging service cannot be reached")
        return str(self.client.PairPhone(request["phone"], True))

    def logout(self, _: dict[str, Any]) -> None:
        """Unlinks the account and clears the state; starts again with a fresh device.

        Where the connection cannot be made, the state is cleared all the same.
        """
        if self.client is None and Path(self._database).exists():
            self.connect({})
            self._ready.wait(READY_WAIT)
        try:
            if self.client is not None and self.client.is_logged_in:
                self.client.logout()
        finally:
            self._stop()
            for path in Path(self._database).parent.glob(Path(self._database).name + "*"):
                path.unlink(missing_ok=True)
            self.connect({})

    def send(self, request: dict[str, Any]) -> str:
        message = _file_message(self.client, request) if request.get("path") else request["text"]
        return str(self.client.send_message(_address(request), message).ID)

    def typing(self, request: dict[str, Any]) -> None:
        from neonize.utils.enum import ChatPresence, ChatPresenceMedia

        state, media = ChatPresence.CHAT_PRESENCE_COMPOSING, ChatPresenceMedia.CHAT_PRESENCE_MEDIA_TEXT
        self.client.send_chat_presence(_address(request), state, media)

    def download(self, request: dict[str, Any]) -> None:
        from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import Message

        message = Message.FromString(base64.b64decode(request["message"]))
        self.client.download_any(message, request["path"])

    def _stop(self) -> None:
        client, self.client = self.client, None
        if client is not None:
            client.stop()

    def _emit(self, event: str, **fields: Any) -> None:
        self._lines.write(event=event, **fields)

    def _on_message(self, received: Any) -> None:
        """Emits the fields of `device.Incoming`."""
        from neonize.exc import NeonizeError

        info, source = received.Info, received.Info.MessageSource
        # A sender may come under a hidden id (LID) that stands for a phone number.
        jids = [jid for jid in (source.Sender, source.SenderAlt) if jid.User]
        for jid in list(jids):
            if jid.Server == "lid":
                with contextlib.suppress(NeonizeError):  # the number is not known: the hidden id stays
                    jids.append(self.client.get_pn_from_lid(jid))
        jids.sort(key=lambda jid: jid.Server != "s.whatsapp.net")
        self._emit(
            "message",
            id=info.ID,
            chat=f"{source.Chat.User}@{source.Chat.Server}",
            sender_ids=list(dict.fromkeys(jid.User for jid in jids if jid.User)),
            name=info.Pushname,
            text=text_of(received.Message),
            at=seconds(info.Timestamp),
            from_me=source.IsFromMe,
            is_group=source.IsGroup,
            media=media_of(received.Message),
            album=album_of(received.Message),
            original=original_of(received.Message),
            context=context_of(received.Message),
            unreadable=unreadable_kind(received.Message),
        )


def _file_message(client: Any, request: dict[str, Any]) -> Any:
    """A picture, video or sound as such; as a document where the library cannot read it: it needs ffmpeg for video
    and audio, and knows few picture formats."""
    from neonize.exc import NeonizeError

    path, mime_type = request["path"], str(request.get("mime") or "")
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
        except Exception as error:  # noqa: BLE001 - whatever the readers of pictures and ffmpeg raise
            sys.stderr.write(f"sent as a document: {type(error).__name__}\n")
    return client.build_document_message(path, filename=request["name"], mimetype=mime_type)


def _address(request: dict[str, Any]) -> Any:
    from neonize.utils.jid import build_jid

    user, _, server = request["chat"].partition("@")
    return build_jid(user, server or "s.whatsapp.net")


def main(database: str) -> None:
    """Answers requests until standard input ends."""
    lines = Lines()
    device = Device(database, lines)

    def answer(request: dict[str, Any]) -> None:
        try:
            result = device.commands[request["command"]](request)
        except Exception as error:  # noqa: BLE001 - reported to the parent
            message = str(error) or "the device's library gave no reason"
            lines.write(id=request["id"], error=message[:500])
        else:
            lines.write(id=request["id"], ok=result)

    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
    os._exit(0)  # the library's threads do not end by themselves


if __name__ == "__main__":
    main(sys.argv[1])
