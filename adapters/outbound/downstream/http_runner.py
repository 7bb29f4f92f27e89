"""Runs resources behind an HTTP endpoint: the documented JSON goes out, the documented JSON comes back."""

from adapters.outbound.downstream.messages import MAX_ANSWER_BYTES, BadAnswer, request_json, result_of
from adapters.outbound.downstream.outcomes import broken_exchange, refused_answer
from domain.routing.model import RunRequest, RunResult
from ports.downstream import DownstreamFailed
from ports.http import Http, HttpFailed, HttpRequest


class HttpRunner:
    """POSTs each message to one address of the operator's, with a Bearer token where there is one.

    The request id goes along as `Idempotency-Key`, so that the endpoint can tell a retry from a new message.
    """

    def __init__(self, http: Http, url: str, token: str | None = None) -> None:
        self._http = http
        self._url = url
        self._token = token

    async def run(self, request: RunRequest) -> RunResult:
        headers = {"Accept": "application/json", "Idempotency-Key": request.request_id}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        call = HttpRequest(
            "POST",
            self._url,
            headers=headers,
            json=request_json(request),
            timeout=request.timeout,
            max_bytes=MAX_ANSWER_BYTES,
        )
        try:
            answer = await self._http.send(call)
        except HttpFailed as error:
            raise broken_exchange(error) from error
        if not answer.ok:
            raise refused_answer(answer)
        if answer.status == 204:
            return RunResult("")
        try:
            return result_of(answer.json())
        except BadAnswer as error:
            raise DownstreamFailed(f"the resource's answer is unusable: {error}", retryable=False) from error
