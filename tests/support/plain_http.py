"""HTTP without TLS. A client of httpx reads all certificates of the machine first, which takes 50 ms each time."""

from collections.abc import Mapping
from typing import Any

import httpx


def plain_client(base_url: str = "", *, timeout: httpx.Timeout | float = 60, **options: Any) -> httpx.Client:
    return httpx.Client(base_url=base_url, timeout=timeout, trust_env=False, verify=False, **options)


def plain_request(
    method: str, url: str, *, cookies: Mapping[str, str] | None = None, **options: Any
) -> httpx.Response:
    with plain_client(cookies=cookies) as client:
        return client.request(method, url, **options)
