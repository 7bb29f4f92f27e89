"""The client of Switchboard's REST interface. Written by `make sdk` from `_async_client.py`."""

import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from time import sleep
from typing import Any, Literal, Self, cast

import httpx

from switchboard_sdk import _http, types
from switchboard_sdk._http import Tries, UploadFile, body_of, path_of, query_of
from switchboard_sdk.answers import Choice, File
from switchboard_sdk.errors import ConnectionFailed
from switchboard_sdk.events import Event, EventStream

UPLOAD_SECONDS = 900.0


class Client:
    """Calls Switchboard as the holder of an API key.

    `base_url`: the address of the gateway. `user_id`: for whom a service acts that calls with the internal service
    key. `timeout`: seconds for an answer. `retries`: how often a call is made again that was refused with 429 or 503,
    or whose connection broke; after all but 429 only calls that cannot do anything twice. Proxies are those of the
    environment (`HTTPS_PROXY`, `NO_PROXY`), certificates those of `SSL_CERT_FILE`, unless `transport` has others.

    The methods return the JSON of the answers, typed as in `switchboard_sdk.types`. They raise `ApiError` and
    `ConnectionFailed`. What has no method here is reached by `request` and `pages`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        user_id: str | None = None,
        timeout: float = 60,
        retries: int = 4,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = _http.headers_of(api_key, user_id)
        base = base_url.rstrip("/")
        self._http = httpx.Client(base_url=base, headers=headers, timeout=timeout, transport=transport)
        self._retries = retries

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: object = None,
        files: Sequence[tuple[str, UploadFile]] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Make any call, and return the JSON of its answer. `params` that are None are left out."""
        response = self._answer(
            method, path, params=params, json=json, files=files, headers=headers, timeout=timeout
        )
        return _http.value_of(response)

    def download(
        self, path: str, *, params: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> bytes:
        """The bytes of a file or an export, such as `/api/agent/feedback/export`."""
        return _http.content_of(self._answer("GET", path, params=params, timeout=timeout))

    def _answer(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None,
        timeout: float | None,
        headers: Mapping[str, str] | None = None,
        **body: Any,
    ) -> httpx.Response:
        """The answer of the last try; a refusal is one, too."""
        query, tries = query_of(params or {}), Tries.of(self._retries, method, headers or {})
        limit = self._http.timeout if timeout is None else timeout
        while True:
            try:
                response = self._http.request(
                    method, path, params=query, headers=headers, timeout=limit, **body
                )
                seconds = tries.after_answer(response)
                if seconds is None:
                    return response
            except httpx.TransportError as error:
                seconds = tries.after_error(error)
                if seconds is None:
                    raise ConnectionFailed(f"{method} {path}: {error or type(error).__name__}") from error
            sleep(seconds)

    def pages(self, path: str, field: str, *, params: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """All entries of a list that is given page by page: `field` of an answer holds them, `next` the cursor."""
        cursor = None
        while True:
            page = self.request("GET", path, params={**(params or {}), "cursor": cursor})
            for entry in page[field]:
                yield entry
            cursor = page.get("next")
            if cursor is None:
                return

    def events(
        self, *, kinds: Sequence[str] = (), instance_ids: Sequence[int] = (), after: int | None = None
    ) -> Iterator[Event]:
        """Events as they happen, without an end. A connection that breaks is made again, and nothing is missed.

        `after`: go on behind the event of this id; without it the stream begins now.
        """
        params = query_of({"kinds": list(kinds), "instanceId": list(instance_ids)})
        stream, tries = EventStream(after), Tries(math.inf, repeatable=True)
        while True:
            stream.begin()
            try:
                headers = {} if stream.cursor is None else {"Last-Event-ID": str(stream.cursor)}
                call = {"params": params, "headers": headers, "timeout": _http.STREAM_TIMEOUT}
                with self._http.stream("GET", path_of("events"), **cast(Any, call)) as response:
                    if not response.is_success:
                        response.read()
                        seconds = tries.after_answer(response)
                        if seconds is None:
                            raise _http.error_of(response)
                    else:
                        for piece in response.iter_bytes():
                            tries.made = 0
                            for event in stream.feed(piece):
                                yield event
                        seconds = tries.next()
            except httpx.TransportError as error:
                seconds = tries.after_error(error)
                if seconds is None:
                    raise ConnectionFailed(f"GET {path_of('events')}: {error}") from error
            sleep(seconds)

    def send(
        self,
        instance_id: int,
        text: str = "",
        *,
        session_id: str | None = None,
        to: str | None = None,
        subject: str | None = None,
        files: Sequence[File] = (),
        choices: Sequence[Choice] = (),
        template: types.TemplateToSend | None = None,
        take_over: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.MessageQueued:
        """Send a message: to a known conversation, to an address, or to the default address of the instance.

        Each call has an idempotency key, so that a repeated request sends nothing twice. Give a key of your own where
        your program may repeat the whole call.
        """
        body = {
            "text": text,
            "sessionId": session_id,
            "to": to,
            "subject": subject,
            "files": _http.files_json(files),
            "choices": _http.choices_json(choices),
            "template": template,
            "takeOver": take_over,
        }
        answer = self.request(
            "POST",
            path_of("channel-instances", instance_id, "messages"),
            json=body_of(body),
            headers={"Idempotency-Key": idempotency_key or str(uuid.uuid4())},
        )
        return cast(types.MessageQueued, answer)

    def message(self, instance_id: int, message_id: str) -> types.ConversationMessage:
        """One message, and what became of it."""
        path = path_of("channel-instances", instance_id, "messages", message_id)
        return cast(types.ConversationMessage, self.request("GET", path))

    def conversations(
        self,
        *,
        instance_ids: Sequence[int] = (),
        query: str | None = None,
        waiting: bool | None = None,
        handler: Literal["person", "resource"] | None = None,
    ) -> Iterator[types.Conversation]:
        """Conversations, the latest first."""
        params = {"instanceId": list(instance_ids), "query": query, "waiting": waiting, "handler": handler}
        for entry in self.pages(path_of("conversations"), "conversations", params=params):
            yield cast(types.Conversation, entry)

    def messages(
        self, instance_id: int, session_id: str, *, latest_first: bool = False
    ) -> Iterator[types.ConversationMessage]:
        """The messages of a conversation."""
        path = path_of("channel-instances", instance_id, "conversations", session_id, "messages")
        for entry in self.pages(path, "messages", params={"latestFirst": latest_first}):
            yield cast(types.ConversationMessage, entry)

    def set_handler(self, instance_id: int, session_id: str, handler: types.SetHandler) -> None:
        """Hand a conversation over to a person, or back to its resource."""
        path = path_of("channel-instances", instance_id, "conversations", session_id, "handler")
        self.request("PUT", path, json=handler)

    def instances(self) -> list[types.ChannelInstance]:
        """The instances of the caller."""
        return cast(list[types.ChannelInstance], self.request("GET", path_of("channel-instances")))

    def instance(self, instance_id: int) -> types.ChannelInstance:
        path = path_of("channel-instances", instance_id)
        return cast(types.ChannelInstance, self.request("GET", path))

    def create_instance(self, instance: types.CreateInstance) -> types.CreatedInstance:
        """Connect a channel."""
        path = path_of("channel-instances")
        return cast(types.CreatedInstance, self.request("POST", path, json=instance))

    def update_instance(self, instance_id: int, change: types.UpdateInstance) -> types.UpdatedInstance:
        path = path_of("channel-instances", instance_id)
        return cast(types.UpdatedInstance, self.request("PUT", path, json=change))

    def delete_instance(self, instance_id: int) -> None:
        self.request("DELETE", path_of("channel-instances", instance_id))

    def instance_health(self, instance_id: int) -> types.InstanceHealth:
        """What works of an instance, and what does not."""
        path = path_of("channel-instances", instance_id, "health")
        return cast(types.InstanceHealth, self.request("GET", path))

    def agents(self) -> Iterator[types.Agent]:
        """The stored agents that the caller may use."""
        for entry in self.pages(path_of("agents"), "agents"):
            yield cast(types.Agent, entry)

    def create_agent(self, agent: types.AgentBody) -> types.Agent:
        return cast(types.Agent, self.request("POST", path_of("agents"), json=agent))

    def update_agent(self, agent_id: int, change: types.AgentBody) -> types.Agent:
        return cast(types.Agent, self.request("PUT", path_of("agents", agent_id), json=change))

    def delete_agent(self, agent_id: int) -> None:
        self.request("DELETE", path_of("agents", agent_id))

    def test_agent(self, agent_id: int, text: str) -> types.AgentTest:
        """Ask an agent, and see what was sent to it."""
        path = path_of("agents", agent_id, "test")
        return cast(types.AgentTest, self.request("POST", path, json={"text": text}))

    def knowledge_bases(self) -> list[types.ListedKnowledgeBase]:
        """The knowledge bases that the caller may use."""
        answer = self.request("GET", path_of("kb"))
        return cast(types.KnowledgeBaseList, answer)["knowledgeBases"]

    def create_knowledge_base(self, name: str, description: str = "") -> types.CreatedKnowledgeBase:
        body = {"name": name, "description": description}
        return cast(types.CreatedKnowledgeBase, self.request("POST", path_of("kb"), json=body))

    def upload(self, base_id: int, files: Sequence[UploadFile], *, wait: bool = True) -> types.UploadAnswer:
        """Upload files to a knowledge base, all or none. Without `wait` they are read later: see `file_states`."""
        path = path_of("kb", base_id, "uploadfile")
        headers = {} if wait else {"Prefer": "respond-async"}
        parts = [("files", file) for file in files]
        answer = self.request("POST", path, files=parts, headers=headers, timeout=UPLOAD_SECONDS)
        return cast(types.UploadAnswer, answer)

    def file_states(self, base_id: int, *, name: str | None = None) -> Iterator[types.FileState]:
        """How far the files of a knowledge base are."""
        for entry in self.pages(path_of("kb", base_id, "file-states"), "files", params={"name": name}):
            yield cast(types.FileState, entry)

    def search(
        self,
        base_id: int,
        query: str,
        *,
        top_k: int | None = None,
        file_ids: Sequence[str] | None = None,
        mode: Literal["hybrid", "text", "vector"] | None = None,
    ) -> list[types.SearchResult]:
        """Search a knowledge base by words and by meaning, the best passages first."""
        body = body_of({"query": query, "topK": top_k, "fileIds": file_ids, "mode": mode})
        answer = self.request("POST", path_of("kb", base_id, "search"), json=body)
        return cast(types.SearchAnswer, answer)["results"]

    def ask(
        self, base_id: int, question: str, *, history: Sequence[types.AskTurn] | None = None
    ) -> types.AskAnswer:
        """Ask a knowledge base; the answer cites its passages."""
        body = body_of({"question": question, "history": history})
        return cast(types.AskAnswer, self.request("POST", path_of("kb", base_id, "ask"), json=body))
