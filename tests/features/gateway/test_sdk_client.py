"""The Python SDK's client for knowledge bases and agents, at the gateway itself."""

import asyncio

import httpx
import pytest
from switchboard_sdk import ApiError, AsyncClient

from domain.access.model import Role
from tests.drivers.ways import BASE, Rest
from tests.drivers.world import World


@pytest.fixture
def client(world: World, rest: Rest) -> AsyncClient:
    return AsyncClient(BASE, world.key_of("ada", Role.MEMBER), transport=httpx.ASGITransport(rest.app))


def test_knowledge_bases(world: World, client: AsyncClient) -> None:
    async def steps() -> None:
        async with client:
            base = (await client.create_knowledge_base("Gardens"))["id"]
            assert [listed["id"] for listed in await client.knowledge_bases()] == [base]
            roses = [(f"{at}.txt", f"Roses {at} are pruned in early spring.".encode()) for at in range(3)]
            uploaded = await client.upload(base, roses)
            assert len(uploaded["files"]) == 3
            later = await client.upload(base, [("tulips.txt", b"Tulips wait for autumn.")], wait=False)
            while not all([state["status"] == "ready" async for state in client.file_states(base)]):
                await asyncio.sleep(0.05)
            assert len([state async for state in client.file_states(base)]) == 4
            [best] = await client.search(base, "when do tulips come", top_k=1)
            assert "autumn" in str(best)
            in_file = [later["files"][0]["fileId"]]
            assert await client.search(base, "roses", file_ids=in_file, mode="text") == []
            assert "tulips" in str(await client.ask(base, "When do tulips come?")).lower()

    world.run(steps())


def test_agents(world: World, client: AsyncClient) -> None:
    async def steps() -> None:
        async with client:
            new = {"url": "http://127.0.0.1:9"}
            agent = await client.create_agent({"name": "Mine", "kind": "http", "settings": new})
            assert (await client.update_agent(agent["id"], {"name": "Ours"}))["name"] == "Ours"
            assert [listed["name"] async for listed in client.agents()] == ["Ours"]
            await client.delete_agent(agent["id"])
            assert [listed async for listed in client.agents()] == []
            with pytest.raises(ApiError) as refused:
                await client.create_agent({"kind": "http"})
            assert (refused.value.status, refused.value.field) == (400, "name")

    world.run(steps())
