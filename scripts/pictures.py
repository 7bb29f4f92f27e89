"""Makes the pictures of docs/pictures: `make pictures`. Starts the service in a folder of its own, fills it through
its API, signs in with the link that it prints, and takes the pages with Chromium."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page

from tests.support.browser import BROWSER, NONE_HERE, a_browser
from tests.support.ports import free_port
from tests.support.receiver import Receiver
from tests.support.service import Service
from tests.support.waiting import until

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs/pictures"
MOST_BYTES = 200_000
HANDBOOK = """# Handbook of the bakery

## Opening hours
The shop in Mill Street opens at 6:30 from Monday to Saturday. On Sunday it is closed.

## Orders
Cakes are ordered two days ahead, by 17:00. The smallest cake serves eight people and costs 28.00.

## Allergies
All breads contain gluten. The almond cake is the only one without flour.
"""
TALKS = (
    ("Mira Lang", "When do you open tomorrow?"),
    ("Mira Lang", "And on **Sunday**?"),
    ("Tom Bauer", "Can I order a cake for Saturday?"),
    ("Aylin Kaya", "Which cake has no flour?"),
    ("Jonas Weber", "The bread was excellent, thank you!"),
)
SITE = "https://bakery.example"
BROKEN = "http://127.0.0.1:9/answers"


def main() -> None:
    if BROWSER is None:
        raise SystemExit(NONE_HERE)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        port = free_port()
        settings = {
            "HTTP_PORT": str(port),
            "AGENT_URL": f"http://127.0.0.1:{port}",
            "OUTBOUND_ALLOW": "127.0.0.0/8",
        }
        with (
            Service(Path(folder) / "data", settings=settings, terminal=True) as service,
            a_browser() as browser,
        ):
            with service.client() as client, Receiver() as receiver:
                pages = _filled(client, receiver.url)
            _taken(browser, service, pages)


def _filled(client: httpx.Client, answers: str) -> dict[str, str]:
    """The addresses of pages, by the names of their pictures. `answers` is where the shop gets its answers."""
    base = _json(client.post("/api/agent/kb", json={"name": "Bakery", "description": "What customers ask"}))
    base_id = base["id"]
    files = {"files": ("handbook.md", HANDBOOK.encode(), "text/markdown")}
    _json(client.post(f"/api/agent/kb/{base_id}/uploadfile", files=files))
    until(
        lambda: bool(_json(client.get(f"/api/agent/kb/{base_id}/files"))["files"]),
        "the handbook can be searched",
        seconds=300,
    )
    reader = f"agent::kb-{base_id}"
    chat = _instance(client, "web-chat", "Website", reader, {"title": "Bakery", "allowedOrigins": SITE})
    shop = _instance(client, "http-webhook", "Shop", reader, {"responseWebhookUrl": answers})
    orders = _instance(client, "http-webhook", "Orders", "agent::echo", {"responseWebhookUrl": BROKEN})
    morning = {"cronSchedule": "0 7 * * 1-6", "message": "Write the report of yesterday"}
    _instance(client, "cron", "Morning report", "agent::echo", morning)
    for instance_id, who, text in [
        *((shop, *talk) for talk in TALKS),
        (orders, "Order 1017", "One rye bread"),
    ]:
        body = {"message": text, "sessionId": who}
        _json(client.post(f"/api/agent/channels/http-webhook/{instance_id}/webhook", json=body))

    def answered() -> int:
        figures = _json(client.get("/api/agent/figures", params={"period": "hour"}))
        return int(figures["total"]["answered"])

    until(lambda: answered() >= len(TALKS), "the figures have all answers", seconds=300)
    return {
        "overview": "/console",
        "gallery": "/console/channels/new",
        "telegram": "/console/channels/new/bot-messenger",
        "channel": f"/console/channels/{chat}",
        "inbox": "/console/inbox",
        "conversation": f"/console/inbox/{shop}/Mira%20Lang",
        "problems": "/console/problems",
        "knowledge": f"/console/knowledge/{base_id}",
        "search": f"/console/knowledge/{base_id}/search?q=cake+without+flour",
        "identities": "/console/identities",
        "keys": "/console/keys",
        "schedules": "/console/schedules",
        "resources": "/console/resources",
    }


def _instance(client: httpx.Client, channel: str, name: str, resource: str, config: dict[str, object]) -> int:
    body = {"channelId": channel, "channelName": name, "config": config, "downStreamResourceId": resource}
    made = _json(client.post("/api/agent/channel-instances", json=body))
    instance_id: int = made["instanceId"]
    return instance_id


def _json(answer: httpx.Response) -> Any:
    if answer.is_error:
        raise SystemExit(f"{answer.request.url} answers {answer.status_code}: {answer.text[:300]}")
    return answer.json()


def _taken(browser: Browser, service: Service, pages: dict[str, str]) -> None:
    link = re.search(r"http\S+\?link=\S+", service.output)
    assert link is not None, service.output
    page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page.goto(link[0])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/console")
    for name, path in pages.items():
        page.goto(service.base + path)
        _take(page, name)
    page.goto(f"{service.base}/console/try")
    page.get_by_label("Resource").fill("agent::kb-1")
    page.get_by_role("button", name="Start the chat").click()
    message = page.get_by_role("textbox", name="Message")
    message.fill(TALKS[2][1])
    message.press("Enter")
    page.get_by_text("two days ahead").wait_for()
    _take(page, "try")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 740})
    for name in ("overview", "conversation"):
        page.goto(service.base + pages[name])
        _take(page, f"{name}-phone")


def _take(page: Page, name: str) -> None:
    path = FOLDER / f"{name}.png"
    page.wait_for_load_state("load")
    page.screenshot(path=path)
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path} has more than {MOST_BYTES} bytes")
    print(path.relative_to(ROOT), f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
