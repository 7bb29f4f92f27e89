"""Asks a model for one reply at a time, in the protocol of its server."""

from collections.abc import AsyncIterator
from typing import Any

from adapters import trace_context
from adapters.outbound.resources import chat_completions, responses
from adapters.outbound.resources.answers import broken_exchange, own_words, refused_answer
from adapters.outbound.resources.chat_completions import STREAM_OPTIONS
from adapters.outbound.resources.chat_model import (
    CHAT_COMPLETIONS,
    RESPONSES,
    ChatModel,
    EventStream,
    ModelInput,
    Reply,
    ServerError,
)
from adapters.outbound.resources.messages import MAX_ANSWER_BYTES
from domain.rendering import off_loop
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed

PROTOCOLS = {CHAT_COMPLETIONS: chat_completions.PROTOCOL, RESPONSES: responses.PROTOCOL}
_TRY_AGAIN = frozenset({
    "rate_limit_exceeded", "rate_limit_error", "server_error", "internal_server_error", "internal_error",
    "api_error", "overloaded", "overloaded_error", "service_unavailable", "timeout",
    "408", "429", "500", "502", "503", "504", "529",
})  # fmt: skip
"""Codes and types of errors after which another try may help."""


class ModelClient:
    """`user_address`: the address was given by a user, so the outbound address policy applies to it."""

    def __init__(self, http: Http, model: ChatModel, *, user_address: bool = False) -> None:
        self._http = http
        self._model = model
        self._user_address = user_address
        self._protocol = PROTOCOLS[model.kind]
        self._takes_stream_options = True

    async def ask(self, model_input: ModelInput, seconds: float, reply: Reply) -> AsyncIterator[str]:
        """The texts of one reply; `reply` holds all of it afterwards. Raises `DownstreamFailed`, `BadAnswer`."""
        texts = self._streamed if self._model.stream else self._unstreamed
        has_text = False
        try:
            async for text in texts(self._request(model_input, seconds), reply):
                has_text = True
                yield text
        except ServerError as error:
            raise self._reported(error.error) from error
        except HttpFailed as error:
            if error.answer is None:
                raise broken_exchange(error) from error
            raise refused_answer(error.answer, self._words(await _error_of(error.answer))) from error
        if reply.text and not has_text:
            yield reply.text

    async def _unstreamed(self, request: HttpRequest, reply: Reply) -> AsyncIterator[str]:
        answer = await self._http.send(request)
        if not answer.ok:
            raise HttpFailed("the server refuses the request", before_request=False, answer=answer)
        reply.take(self._protocol.reply_of(await off_loop(len(answer.body), answer.json)))
        if reply.text:
            yield reply.text

    async def _streamed(self, request: HttpRequest, reply: Reply) -> AsyncIterator[str]:
        events = EventStream(self._protocol)
        async for piece in self._pieces(request):
            for text in events.feed(piece):
                yield text
        reply.take(events.close())
        if not reply.ended:
            raise DownstreamFailed("the model's answer broke off", retryable=True)

    async def _pieces(self, request: HttpRequest) -> AsyncIterator[bytes]:
        """The body of a streamed answer. OpenAI, Anthropic, Google, Ollama, vLLM and LiteLLM take `stream_options`,
        and most others ignore what they do not know. Some, such as older versions of Azure OpenAI, refuse the request
        and name the option: these are asked without it, once more and from then on."""
        try:
            async for piece in self._http.stream(request):
                yield piece
        except HttpFailed as error:
            refusal = error.answer.body if error.answer and error.answer.status in (400, 422) else b""
            if STREAM_OPTIONS not in request.json or STREAM_OPTIONS.encode() not in refusal:
                raise
        else:
            return
        self._takes_stream_options = False
        del request.json[STREAM_OPTIONS]
        async for piece in self._http.stream(request):
            yield piece

    def _request(self, model_input: ModelInput, seconds: float) -> HttpRequest:
        model = self._model
        headers = {"Accept": "text/event-stream" if model.stream else "application/json"}
        headers |= trace_context.headers()
        if model.token:
            headers["Authorization"] = f"Bearer {model.token}"
        body = self._protocol.body(model, model_input)
        if not self._takes_stream_options:
            body.pop(STREAM_OPTIONS, None)
        return HttpRequest(
            "POST",
            model.url.rstrip("/") + self._protocol.path,
            headers=headers,
            json=body,
            timeout=seconds,
            max_bytes=MAX_ANSWER_BYTES,
            user_address=self._user_address,
        )

    def _reported(self, error: Any) -> DownstreamFailed:
        """The failure behind an error inside an answer."""
        names = {str(error.get("code")), str(error.get("type"))} if isinstance(error, dict) else set()
        words = self._words(error) or "no reason is given"
        return DownstreamFailed(
            f"the model's server reports an error: {words}", retryable=bool(names & _TRY_AGAIN)
        )

    def _words(self, error: Any) -> str:
        """Code and message of an error as the server says them, in one line of bounded length, without the token."""
        is_object = isinstance(error, dict)
        parts = [error.get("code") or error.get("type"), error.get("message")] if is_object else [error]
        return own_words(parts, self._model.token)


async def _error_of(answer: HttpAnswer) -> Any:
    """The `error` of a refusal; some servers wrap it in a list."""
    body = await off_loop(len(answer.body), answer.json)
    if isinstance(body, list) and body:
        body = body[0]
    return body.get("error") or body.get("message") if isinstance(body, dict) else None
