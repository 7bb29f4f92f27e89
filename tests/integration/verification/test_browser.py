"""The page at the end of an OAuth redirect, in a real browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from aiohttp import web

from adapters.inbound.rest.verification_page import closing_page
from domain.verification.model import OAuthResult
from tests.support.servers import serving

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell")
BROWSER = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)

OPENER = """<!DOCTYPE html><title>opener</title><body><script>
addEventListener("message", event => {
  document.body.textContent = "got " + event.origin + " " + JSON.stringify(event.data);
});
open("/callback");
</script>"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (CHROMIUM names one)")
@pytest.mark.parametrize("success", [True, False])
async def test_the_opener_is_told_by_the_page_alone(tmp_path: Path, success: bool) -> None:
    import anyio

    async def answer(request: web.Request) -> web.StreamResponse:
        origin = f"http://{request.host}"
        if request.path != "/callback":
            return web.Response(text=OPENER, content_type="text/html")
        result = OAuthResult(success, "ok" if success else "</script><script>document.title='x'</script>")
        page = closing_page("gaming-chat", result, f"{origin}/some/path", "n0nce")
        return web.Response(text=page.html, headers=page.headers, content_type="text/html")

    async with serving(answer) as url:
        command = [
            str(BROWSER),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-popup-blocking",
            f"--user-data-dir={tmp_path}",
            "--virtual-time-budget=5000",
            "--dump-dom",
            url,
        ]
        shown = await anyio.to_thread.run_sync(
            lambda: subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        )
    assert f"got {url}" in shown
    assert f'"success":{"true" if success else "false"}' in shown
