"""The files found for a query: as callers of the API get them, by each of the two searches alone, and deeper."""

from apps.compose.container import Container
from domain.knowledge.rules import MOST_RESULTS, Mode, SearchOptions

WAYS = {
    "ten files, both searches": SearchOptions(per_file=1),
    "ten files, text alone": SearchOptions(per_file=1, mode=Mode.TEXT),
    "ten files, vectors alone": SearchOptions(per_file=1, mode=Mode.VECTOR),
    "files of the first ten chunks": SearchOptions(),
    "files of the first fifty chunks": SearchOptions(top_k=MOST_RESULTS),
}


class Rankings:
    """Names of files without their ending, best first. Vectors find nothing for scripts that the model does not
    know."""

    def __init__(self, container: Container, base_id: int) -> None:
        self._container = container
        self._base_id = base_id

    async def of(self, text: str) -> dict[str, list[str]]:
        return {way: await self._files(text, options) for way, options in WAYS.items()}

    async def _files(self, text: str, options: SearchOptions) -> list[str]:
        results = await self._container.knowledge().search.find(self._base_id, text, options)
        return list(dict.fromkeys(result.file_name.removesuffix(".txt") for result in results))
