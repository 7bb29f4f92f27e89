"""The HTTP port for stored agents: under the outbound policy for addresses that users give."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from ports.http import Http, HttpAnswer, HttpRequest


@dataclass(frozen=True, slots=True)
class UserAddresses:
    """`ports.http.Http` that holds every address against the outbound policy for addresses of users."""

    http: Http

    async def send(self, request: HttpRequest) -> HttpAnswer:
        return await self.http.send(replace(request, user_address=True))

    def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        return self.http.stream(replace(request, user_address=True))
