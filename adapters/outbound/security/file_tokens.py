"""Signed tokens for the addresses of files."""

import json
from datetime import datetime

from adapters.outbound.security.signed_tokens import Signer
from ports.files import SharedFile

PURPOSE = b"switchboard: addresses of files"


class SignedTokens:
    """`ports.files.FileTokens`."""

    def __init__(self, keys: str) -> None:
        self._signer = Signer(keys, PURPOSE)

    def sign(self, file: SharedFile, until: datetime) -> str:
        record = [] if file.record is None else [file.record]
        content = [file.blob, file.name, file.mime_type, int(until.timestamp()), *record]
        return self._signer.sign(json.dumps(content, separators=(",", ":")).encode())

    def read(self, token: str, now: datetime) -> SharedFile | None:
        payload = self._signer.read(token)
        if payload is None:
            return None
        blob, name, mime_type, until, *record = json.loads(payload)
        return SharedFile(blob, name, mime_type, *record) if now.timestamp() < until else None
