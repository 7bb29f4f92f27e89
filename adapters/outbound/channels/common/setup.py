"""Steps of setting up that channels share."""


def https_step(platform: str) -> str:
    """The first step where a platform calls the service and offers no other way."""
    return (
        f"{platform} calls the service, so it needs a public https address: put a reverse proxy with TLS in front "
        "of it ('caddy reverse-proxy --from agents.example.com --to localhost:3011'), or for a trial a tunnel "
        "('cloudflared tunnel --url http://localhost:3011'), and start it with AGENT_URL set to that address."
    )
