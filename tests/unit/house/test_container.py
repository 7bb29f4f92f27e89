"""mypy checks how groups of objects are wired, but not the arguments of providers: so each is built once."""

from pathlib import Path

import pytest
from dependency_injector import providers

from adapters.outbound.system.encryption import new_key
from apps.compose.container import Container
from apps.settings_loading import load


@pytest.mark.parametrize("solitary", [True, False])
async def test_every_provider_can_be_built(tmp_path: Path, solitary: bool) -> None:
    settings = load(
        {
            "DATA_DIR": str(tmp_path),
            "INTERNAL_SERVICE_KEY": "k",
            "CONFIG_ENCRYPTION_KEY": new_key(),
            "DOWNSTREAM_URL": "http://127.0.0.1:9/run",
            "COMMUNITY_CHAT_SERVER_URL": "https://chat.example.com",
        },
        env_file=None,
    )
    container = Container(settings=settings, dsn="postgresql://nobody@127.0.0.1:9/none", solitary=solitary)

    built = {
        name: provider()
        for name, provider in container.providers.items()
        if isinstance(provider, providers.Singleton)
    }

    assert {"storage", "use_cases", "work"} <= built.keys()
    assert {name for name, each in built.items() if each is None} == {"transcriber"}  # no speech model
    await container.foundation().http.close()
