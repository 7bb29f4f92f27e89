"""AWS Signature Version 4 for S3.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import parse_qsl, quote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class Credentials:
    """An access key and the region that it is used in."""

    key_id: str
    secret: str = field(repr=False)
    region: str = "us-east-1"


def signed_headers(
    credentials: Credentials,
    method: str,
    url: str,
    headers: Mapping[str, str],
    payload_hash: str,
    now: datetime,
) -> dict[str, str]:
    """The headers with those of the signature: host, date, content hash, authorization.

    `url` is as it goes out, escapes and all; `payload_hash` is the lower-case hex SHA-256 of the body; `now` in UTC.
    """
    parts = urlsplit(url)
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    signed = {name.lower(): " ".join(value.split()) for name, value in headers.items()}
    signed.update({"host": parts.netloc, "x-amz-content-sha256": payload_hash, "x-amz-date": stamp})
    names = sorted(signed)
    canonical = "\n".join(
        [
            method,
            parts.path or "/",
            _query(parts.query),
            *(f"{name}:{signed[name]}" for name in names),
            "",
            ";".join(names),
            payload_hash,
        ]
    )
    scope = f"{stamp[:8]}/{credentials.region}/s3/aws4_request"
    text = "\n".join([ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    signature = hmac.new(_key(credentials, stamp[:8]), text.encode(), hashlib.sha256).hexdigest()
    signed["authorization"] = (
        f"{ALGORITHM} Credential={credentials.key_id}/{scope},SignedHeaders={';'.join(names)},Signature={signature}"
    )
    return signed


def _query(query: str) -> str:
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(query, keep_blank_values=True)
    )
    return "&".join(f"{name}={value}" for name, value in pairs)


def _key(credentials: Credentials, day: str) -> bytes:
    key = f"AWS4{credentials.secret}".encode()
    for part in (day, credentials.region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
