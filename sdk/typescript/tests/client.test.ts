import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Client, ConnectionFailed, SwitchboardError } from "../src/index.js";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A client of a server that gives these answers, one for each request; the requests with their bodies. */
async function scripted(answers: Answer[], run: (client: Client, asked: Asked[]) => Promise<void>): Promise<void> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    asked.push({
      line: `${request.method} ${request.url}`,
      headers: request.headers,
      body: Buffer.concat(pieces).toString(),
    });
    const answer = answers[asked.length - 1];
    if (answer) answer(request, response);
    else response.writeHead(500).end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await run(new Client({ url: `http://127.0.0.1:${port}/`, key: "k" }), asked);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

interface Asked {
  line: string;
  headers: IncomingMessage["headers"];
  body: string;
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
  };
}

const broken: Answer = (request) => request.socket.destroy();

test("a message is sent once with one key, however often it is tried", async () => {
  const answers = [
    json(429, { error: "slow down" }, { "retry-after": "0" }),
    broken,
    json(202, { messageId: "send-1" }),
  ];
  await scripted(answers, async (client, asked) => {
    const queued = await client.send(7, { text: "Hi", to: "ada", files: [{ name: "a", data: Buffer.from("hi") }] });
    assert.equal(queued.messageId, "send-1");
    const keys = new Set(asked.map((request) => request.headers["idempotency-key"]));
    assert.deepEqual([asked.length, keys.size, keys.has(undefined)], [3, 1, false]);
    const [first] = asked;
    assert.deepEqual(
      [first!.line, first!.headers.authorization],
      ["POST /api/agent/channel-instances/7/messages", "Bearer k"],
    );
    assert.deepEqual(JSON.parse(first!.body), { text: "Hi", to: "ada", files: [{ name: "a", dataBase64: "aGk=" }] });
  });
  await scripted([json(202, {})], async (client, asked) => {
    await client.send(7, { text: "Hi", idempotencyKey: "mine" });
    assert.equal(asked[0]!.headers["idempotency-key"], "mine");
  });
});

test("what cannot be repeated is not, and a refusal has its reason", async () => {
  await scripted([broken], async (client, asked) => {
    await assert.rejects(client.createAgent({ name: "A" }), ConnectionFailed);
    assert.equal(asked.length, 1);
  });
  await scripted([json(503, { error: "the core is away" }, { "retry-after": "0" })], async (client, asked) => {
    await assert.rejects(client.createAgent({ name: "A" }), SwitchboardError);
    assert.equal(asked.length, 1);
  });
  assert.throws(() => new Client({ url: "switchboard:3011", key: "k" }), /url must be a whole address/);
  assert.throws(() => new Client({ url: "http://switchboard", key: "sb_\nkey" }), TypeError);
  await scripted([json(400, { error: "settings.url: is missing" })], async (client) => {
    await assert.rejects(client.createAgent({ name: "A" }), (error) => {
      assert.ok(error instanceof SwitchboardError);
      assert.deepEqual([error.status, error.message, error.field], [400, "settings.url: is missing", "settings.url"]);
      return true;
    });
  });
  await scripted([json(503, { error: "later" }, { "retry-after": "3600" })], async (client) => {
    await assert.rejects(
      client.instances(),
      (error) => error instanceof SwitchboardError && error.retryAfter === 3600,
    );
  });
  await scripted([(_, response) => response.writeHead(404, "Not Found").end("<html>")], async (client) => {
    await assert.rejects(client.instances(), /Not Found: <html>/);
  });
  const free = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => free.once("listening", resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const unreachable = new Client({ url: `http://127.0.0.1:${port}`, key: "k", retries: 1 });
  await assert.rejects(unreachable.createAgent({ name: "A" }), /POST http:.*ECONNREFUSED/);
});

test("lists are read page by page", async () => {
  const answers = [
    json(200, { agents: [{ id: 1 }, { id: 2 }], next: "c&2" }),
    json(200, { agents: [{ id: 3 }], next: null }),
  ];
  await scripted(answers, async (client, asked) => {
    const ids: number[] = [];
    for await (const agent of client.agents()) ids.push(agent.id);
    assert.deepEqual([ids, asked[1]!.line], [[1, 2, 3], "GET /api/agent/agents?cursor=c%262"]);
  });
});

test("any call can be made, and its path and query are filled in", async () => {
  const answers = [json(200, {}), (_: unknown, response: ServerResponse) => void response.writeHead(204).end()];
  await scripted(answers, async (client, asked) => {
    const path = "/api/agent/channel-instances/{instanceId}/conversations/{sessionId}/messages";
    await client.request("GET", path, { path: { instanceId: 1, sessionId: "a/b?" }, query: { latestFirst: true } });
    assert.equal(
      asked[0]!.line,
      "GET /api/agent/channel-instances/1/conversations/a%2Fb%3F/messages?latestFirst=true",
    );
    const removed = await client.request("DELETE", "/api/agent/agents/{agentId}", { path: { agentId: 1 } });
    assert.equal(removed, null);
    // @ts-expect-error the path has no such method
    await assert.rejects(client.request("PUT", "/api/agent/agents", {}));
    // @ts-expect-error agentId is missing
    assert.throws(() => client.request("GET", "/api/agent/agents/{agentId}", {}), /path\.agentId is missing/);
    // @ts-expect-error an agent has no color
    await assert.rejects(client.request("POST", "/api/agent/agents", { json: { color: "red" } }));
  });
});

test("files are uploaded as a form", async () => {
  await scripted([json(202, { files: [] })], async (client, asked) => {
    await client.upload(3, [{ name: "a.txt", data: "hello" }], { wait: false });
    assert.match(asked[0]!.headers["content-type"]!, /^multipart\/form-data; boundary=/);
    assert.match(asked[0]!.body, /name="files"; filename="a\.txt"[^]*hello/);
    assert.equal(asked[0]!.headers["prefer"], "respond-async");
  });
});

test("events go on behind the last whole one, whatever breaks", async () => {
  const stream =
    (text: string, end: "end" | "break"): Answer =>
    (request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(text, () => setTimeout(() => (end === "end" ? response.end() : request.socket.destroy()), 20));
    };
  const frame = (id: number) =>
    `id: ${id}\nevent: message.answered\ndata: {"id":${id},"kind":"message.answered"}\n\n`;
  const answers = [
    json(503, {}, { "retry-after": "0" }),
    stream(`retry: 3000\nid: 41\n\n${frame(42)}id: 43\nevent: mess`, "break"),
    stream(`: still here\nid: 50\n\n`, "end"),
    broken,
    stream(`id: 51\nevent: reset\n\n${frame(52).replaceAll("\n", "\r\n")}`, "end"),
    json(401, { error: "the key is not valid" }),
  ];
  await scripted(answers, async (client, asked) => {
    const got: unknown[] = [];
    await assert.rejects(
      async () => {
        for await (const event of client.events({ kinds: ["message.answered"], instanceIds: [1, 2] })) {
          got.push([event.id, event.kind]);
        }
      },
      (error) => error instanceof SwitchboardError && error.status === 401,
    );
    assert.deepEqual(got, [
      [42, "message.answered"],
      [51, "reset"],
      [52, "message.answered"],
    ]);
    assert.deepEqual(
      asked.map((request) => request.headers["last-event-id"]),
      [undefined, undefined, "42", "50", "50", "52"],
    );
    assert.equal(asked[0]!.line, "GET /api/agent/events?kinds=message.answered&instanceId=1%2C2");
  });
});

test("a stream without a sign of life is opened again", async (t) => {
  const silent: Answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('id: 1\ndata: {"id":1,"kind":"message.failed"}\n\n');
  };
  await scripted([silent, silent], async (client, asked) => {
    const events = client.events();
    await events.next();
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const second = events.next();
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(45_000);
    while (asked.length < 2) {
      await new Promise((resolve) => setImmediate(resolve));
      t.mock.timers.tick(20);
    }
    t.mock.timers.reset();
    assert.equal((await second).value?.id, 1);
    assert.equal(asked[1]!.headers["last-event-id"], "1");
    await events.return(undefined);
  });
});

test("a reader of events stops when it wants", async () => {
  const open: Answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('id: 1\ndata: {"id":1,"kind":"message.failed"}\n\n');
  };
  await scripted([open, open], async (client) => {
    for await (const event of client.events()) {
      assert.equal(event.id, 1);
      break;
    }
    const stop = new AbortController();
    const next = client.events({ after: 0, signal: stop.signal });
    await next.next();
    const waiting = next.next();
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
  });
});

test("mistakes of the program are told at once", () => {
  assert.throws(() => new Client({ url: "", key: "k" }), /needs url/);
  assert.throws(() => new Client({ url: "localhost", key: "k" }), /whole address/);
});
