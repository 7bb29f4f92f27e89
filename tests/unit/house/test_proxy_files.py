"""The reverse proxies' files under deploy/ stand in docs/tls.md as they are, and nginx takes its one."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.certificates import new_authority

ROOT = Path(__file__).parents[3]
QUOTED = {
    "nginx": "deploy/nginx/switchboard.conf",
    "caddyfile": "deploy/caddy/Caddyfile",
    "yaml": "deploy/traefik/dynamic.yaml",
}


@pytest.mark.parametrize("language", QUOTED)
def test_the_page_quotes_the_file(language: str) -> None:
    page = (ROOT / "docs/tls.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    assert blocks == [(ROOT / QUOTED[language]).read_text(encoding="utf-8")]


def test_traefik_routes_to_services_and_middlewares_that_exist() -> None:
    http = yaml.safe_load((ROOT / QUOTED["yaml"]).read_text(encoding="utf-8"))["http"]
    for router in http["routers"].values():
        assert router["service"] in http["services"]
        assert set(router.get("middlewares", [])) <= http["middlewares"].keys()
    transports = {service["loadBalancer"].get("serversTransport") for service in http["services"].values()}
    assert transports - {None} <= http["serversTransports"].keys()


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_nginx_takes_the_file(tmp_path: Path) -> None:
    certificate = new_authority().issue("agents.example.com")
    (tmp_path / "fullchain.pem").write_bytes(certificate.pem)
    (tmp_path / "privkey.pem").write_bytes(certificate.key_pem)
    text = (ROOT / QUOTED["nginx"]).read_text(encoding="utf-8")
    site = tmp_path / "site.conf"
    site.write_text(text.replace("/etc/ssl/agents.example.com", str(tmp_path)), encoding="utf-8")
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"pid {tmp_path}/pid;\nerror_log {tmp_path}/error.log;\nevents {{}}\n"
        f"http {{ access_log off; include {site}; }}\n"
    )
    done = subprocess.run(
        ["nginx", "-t", "-c", str(config), "-p", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
