"""Stand-ins for a LangGraph server: one that plays what was recorded of a real one, and one that keeps threads."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from aiohttp import web

RECORDED = Path(__file__).parent.parent / "samples" / "langgraph"


class Recording:
    """Answers as the real server did, in turn, where it is asked as the real one was; `faults` tell the rest."""

    def __init__(self, name: str) -> None:
        self.left = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
        self.faults: list[str] = []
        self.threads: set[str] = set()

    async def handle(self, request: web.Request) -> web.Response:
        _, threads, thread, rest = request.path_qs.split("/", 3)
        self.threads.add(thread)
        text = await request.text()
        asked = request.method, f"/{threads}/THREAD/{rest}", json.loads(text) if text else None
        if not self.left:
            self.faults.append(f"asked once too often: {asked}")
            return web.Response(status=500)
        entry = self.left.pop(0)
        recorded = entry["method"], entry["path"], entry["body"]
        if asked != recorded:
            self.faults.append(f"{asked} in place of {recorded}")
        headers = {"Content-Location": entry["location"]} if entry["location"] else {}
        return web.Response(
            status=entry["status"], text=entry["answer"], content_type=entry["type"], headers=headers
        )


@dataclass
class Step:
    """What a graph does with a message or a resumption: it says something, and asks for something, or fails. `calls`
    are the tool calls of what it says; `next` is the step before which it stops at a breakpoint."""

    text: str = ""
    interrupt: Any = None
    error: str = ""
    calls: Sequence[dict[str, Any]] = ()
    next: str = ""


@dataclass
class _Run:
    id: str
    thread: str
    metadata: Any
    status: str = "running"

    async def end(self) -> None:
        """Waits for its end, which may come from another thread."""
        while self.status == "running":
            await asyncio.sleep(0.01)


class LangGraphServer:
    """Keeps threads and runs as the real server does. `graph` makes a step of the text of a message, or of the value
    that resumes a thread. While it `is_held`, runs do not end."""

    def __init__(self, graph: Callable[[Any], Step]) -> None:
        self.graph = graph
        self.begun: list[Any] = []
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.cancelled: list[str] = []
        self.joined: list[str] = []
        self.told: list[str] = []
        self.messages: dict[str, list[dict[str, Any]]] = {}
        self.steps: dict[str, Step] = {}
        self.runs: list[_Run] = []
        self.is_held = False

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        thread, *rest = request.path.partition("/threads/")[2].split("/")
        match request.method, rest:
            case "POST", ["runs", "stream"]:
                return await self._begin(request, thread)
            case "GET", ["runs"] if thread in self.messages:
                return web.json_response(
                    [self._shown(run) for run in reversed(self.runs) if run.thread == thread]
                )
            case "GET", ["runs", run_id, "join"]:
                self.joined.append(run_id)
                await self._of(run_id).end()
                return web.json_response(self._joined(thread))
            case "POST", ["runs", run_id, "cancel"]:
                self._cancel(self._of(run_id))
                return web.Response(status=202)
            case "GET", ["state"] if thread in self.messages:
                return web.json_response(self._state(thread))
        return web.json_response({"detail": "not found"}, status=404)

    def release(self) -> None:
        """Lets the runs end that wait."""
        self.is_held = False
        for run in self.runs:
            if run.status == "running":
                self._end(run)

    async def _begin(self, request: web.Request, thread: str) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        messages = self.messages.setdefault(thread, [])
        if command := body.get("command"):
            said = command["resume"]
        else:
            sent = body["input"]["messages"] if body["input"] else []
            said = sent[-1]["content"] if sent else None
            known = [message["id"] for message in messages]
            messages.extend(message for message in sent if message["id"] not in known)
        self.begun.append(said)
        run = _Run(str(uuid4()), thread, body["metadata"])
        self.runs.append(run)
        self.steps[thread] = self.graph(said)
        if not self.is_held:
            self._end(run)
        location = f"/threads/{thread}/runs/{run.id}"
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Content-Location": location}
        )
        await response.prepare(request)
        await _send(response, "metadata", {"run_id": run.id})
        self.told.append(run.id)
        await run.end()
        if error := self.steps[thread].error:
            await _send(response, "error", {"error": "ValueError", "message": error})
        return response

    def _end(self, run: _Run) -> None:
        step = self.steps[run.thread]
        if step.text:
            said = {"type": "ai", "id": str(uuid4()), "content": step.text, "tool_calls": list(step.calls)}
            self.messages[run.thread].append(said)
        run.status = "error" if step.error else "interrupted" if step.interrupt else "success"

    def _cancel(self, run: _Run) -> None:
        self.cancelled.append(run.id)
        self.steps[run.thread] = Step(error="CancelledError()")
        run.status = "interrupted"

    def _of(self, run_id: str) -> _Run:
        return next(run for run in self.runs if run.id == run_id)

    def _shown(self, run: _Run) -> dict[str, Any]:
        return {"run_id": run.id, "status": run.status, "metadata": run.metadata}

    def _joined(self, thread: str) -> dict[str, Any]:
        error = self.steps[thread].error
        if error and error != "CancelledError()":
            return {"__error__": {"error": "ValueError", "message": error}}
        return {"messages": self.messages[thread]}

    def _state(self, thread: str) -> dict[str, Any]:
        step = self.steps[thread]
        interrupts = [{"id": "1" * 32, "value": step.interrupt}] if step.interrupt else []
        runs = any(run.thread == thread and run.status == "running" for run in self.runs)
        return {
            "values": {"messages": self.messages[thread]},
            "next": [step.next or "model"] if step.next or step.interrupt or step.error or runs else [],
            "tasks": [{"error": step.error or None}],
            "interrupts": interrupts,
            "checkpoint_id": str(len(self.runs)),
        }


async def _send(response: web.StreamResponse, name: str, value: Any) -> None:
    await response.write(f"event: {name}\r\ndata: {json.dumps(value)}\r\n\r\n".encode())


def tools(*names: str, **args: Any) -> Any:
    """An interrupt as LangChain's middleware makes it."""
    return {
        "action_requests": [
            {"name": name, "args": args, "description": f"Decide\n\nTool: {name}"} for name in names
        ],
        "review_configs": [
            {"action_name": name, "allowed_decisions": ["approve", "reject"]} for name in names
        ],
    }
