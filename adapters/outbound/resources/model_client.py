"""Asks a model for one reply at a time, in the protocol of its server."""

from collections.abc import AsyncIterator

from adapters.outbound.resources import chat_completions, responses
from adapters.outbound.resources.answers import EVENTS
from adapters.outbound.resources.chat_completions import STREAM_OPTIONS
from adapters.outbound.resources.chat_model import EventStream, ModelInput, Reply
from adapters.outbound.resources.exchanges import ServerError, call_headers, failed_exchange, reported_error
from adapters.outbound.resources.messages import MAX_ANSWER_BYTES
from adapters.outbound.resources.model_settings import CHAT_COMPLETIONS, RESPONSES, ChatModel
from domain.rendering import off_loop
from ports.http import Http, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed

PROTOCOLS = {CHAT_COMPLETIONS: chat_completions.PROTOCOL, RESPONSES: responses.PROTOCOL}


class ModelClient:
    def __init__(self, http: Http, model: ChatModel) -> None:
        self._http = http
        self._model = model
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
            raise reported_error(error.error, self._model.token) from error
        except HttpFailed as error:
            raise await failed_exchange(error, self._model.token) from error
        if reply.text and not has_text:
            yield reply.text

    async def _unstreamed(self, request: HttpRequest, reply: Reply) -> AsyncIterator[str]:
        answer = await self._http.send(request)
        if not answer.ok:
            raise HttpFailed("the server refuses the request", before_request=False, answer=answer)
        value = await off_loop(len(answer.body), answer.json)
        reply.usage = self._protocol.usage_of(value)
        reply.take(self._protocol.reply_of(value))
        if reply.text:
            yield reply.text

    async def _streamed(self, request: HttpRequest, reply: Reply) -> AsyncIterator[str]:
        events = EventStream(self._protocol)
        try:
            async for piece in self._pieces(request):
                for text in events.feed(piece):
                    yield text
            reply.take(events.close())
        finally:
            reply.usage = reply.usage or events.usage
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
        headers = call_headers(model.token, {"Accept": EVENTS if model.stream else "application/json"})
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
        )
