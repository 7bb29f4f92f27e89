"""The memory service over HTTP: DELETE {base}/knowledge-bases/{id}/nodes."""

from ports.http import Http, HttpFailed, HttpRequest
from ports.system import MemoryRefused


class HttpMemory:
    """Any 2xx is the acknowledgement; everything else, 404 included, is tried again: a wrong address must not
    pass for a deletion."""

    def __init__(self, http: Http, base: str, service_key: str) -> None:
        self._http = http
        self._base = base.rstrip("/")
        self._headers = {"authorization": f"Bearer {service_key}"}

    async def delete(self, base_id: int) -> None:
        if not self._base:
            raise MemoryRefused("MEMORY_URL is not set")
        url = f"{self._base}/knowledge-bases/{base_id}/nodes"
        try:
            answer = await self._http.send(HttpRequest("DELETE", url, headers=self._headers))
        except HttpFailed as error:
            raise MemoryRefused(str(error)) from error
        if not answer.ok:
            raise MemoryRefused(f"the memory service answered {answer.status}")
