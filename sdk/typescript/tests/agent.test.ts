import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { Agent, type AgentOptions, AgentTest, type Handler, TryLater } from "../src/index.js";

const TOKEN = "s3cret";

function agentOf(handler: Handler, options: Partial<AgentOptions> = {}): Agent {
  return new Agent({ token: TOKEN, ...options }).onMessage(handler);
}

function request(fields: Record<string, unknown> = {}, headers: Record<string, string> = {}): Request {
  const body = {
    resource: { kind: "agent", id: "helper", expertIndex: 1 },
    requestId: "r1",
    instanceId: 7,
    channelId: "bot",
    sessionId: "4711",
    sender: { externalId: "4711", displayName: "Ada", userId: null, verifiedBy: "owner" },
    text: "Hi",
    files: [],
    approvedTools: ["search"],
    ...fields,
  };
  return post(JSON.stringify(body), headers);
}

function post(body: string | Uint8Array, headers: Record<string, string> = {}): Request {
  const all = { authorization: `Bearer ${TOKEN}`, accept: "text/event-stream, application/json", ...headers };
  return new Request("http://agent/run", { method: "POST", headers: all, body });
}

test("text that is yielded is streamed, and the whole answer comes last", async () => {
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const agent = agentOf(async function* () {
    yield "It is ";
    await gate;
    yield "**noon**.";
    yield { choices: [{ label: "Thanks" }] };
    return { buttons: [{ label: "Clock", url: "https://clock.example" }] };
  });
  const reader = (await agent.fetch(request())).body!.getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  assert.equal(first, 'data: {"textDelta":"It is "}\n\n');
  goOn();
  let rest = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read())
    rest += new TextDecoder().decode(piece.value);
  const last = JSON.parse(rest.trim().split("\n\n").at(-1)!.slice(6));
  assert.deepEqual(last, {
    text: "It is **noon**.",
    choices: [{ label: "Thanks" }],
    buttons: [{ label: "Clock", url: "https://clock.example" }],
  });
});

test("an answer that is returned, or asked for without events, is one JSON object", async () => {
  const returned = await agentOf(async () => "At once").fetch(request());
  assert.deepEqual(
    [returned.headers.get("content-type"), await returned.json()],
    ["application/json", { text: "At once" }],
  );
  const generator = agentOf(async function* () {
    yield "one ";
    await new Promise((resolve) => setTimeout(resolve, 5));
    yield "two";
  });
  assert.deepEqual(await (await generator.fetch(request({}, { accept: "application/json" }))).json(), {
    text: "one two",
  });
  assert.equal((await agentOf(() => {}).fetch(request())).status, 204);
});

test("all kinds of content are answered as Switchboard reads them", async () => {
  const whole = {
    text: "See",
    confirmation: { tool: "mail", parameters: { to: "ada" } },
    cards: [{ title: "Pump", fields: [{ name: "Price", value: "20" }] }],
    location: { latitude: 1, longitude: 2 },
    contact: { name: "Ada", phones: ["+49151"] },
    form: { title: "Order", fields: [{ name: "size", label: "Size", required: true }] },
    assign: "",
    labels: ["new"],
    removeLabels: ["old"],
    usage: { inputTokens: 1, outputTokens: 2 },
    handover: true,
    close: true,
  };
  const empty = { silent: false, choices: [] };
  const files = [
    { name: "a.txt", mimeType: "text/plain", data: Buffer.from("hi") },
    { name: "b.txt", url: "https://x.example/b" },
  ];
  const reply = await agentOf(() => ({ ...whole, ...empty, files })).ask("go");
  assert.deepEqual(reply.json, {
    ...whole,
    artifacts: [
      { name: "a.txt", mimeType: "text/plain", dataBase64: "aGk=" },
      { name: "b.txt", url: "https://x.example/b" },
    ],
  });
  assert.equal(Buffer.from(reply.files["a.txt"]!).toString(), "hi");
  assert.equal((await agentOf(() => ({ silent: true })).ask("go")).json["silent"], true);
});

test("the message has all that Switchboard tells", async () => {
  const seen: unknown[] = [];
  const agent = agentOf((message) => {
    const { quoted, thread, sender, resource, form, context, choice, reaction, raw } = message;
    seen.push({ quoted, thread, sender, resource, form, context, choice, reaction, later: raw["later"] });
    assert.deepEqual(
      [message.allows("search"), message.allows("mail"), message.rejects("mail")],
      [true, false, true],
    );
  });
  const file = { name: "a.png", mimeType: "image/png", size: 3, url: "https://x.example/a" };
  const fields = {
    quoted: { text: "Ten", author: "Bob", files: [file] },
    thread: [{ text: "Who?", author: null, at: "2026-11-20T12:00:00.000Z" }],
    form: { values: { size: "s" } },
    context: { language: "en" },
    choice: true,
    reaction: "👍",
    approval: { confirmationId: "c1", tool: "mail", decision: "rejected" },
    later: 1,
  };
  assert.equal((await agent.fetch(request(fields))).status, 204);
  const [message] = JSON.parse(JSON.stringify(seen));
  const { form, approval, ...same } = fields;
  assert.deepEqual(message, {
    ...same,
    form: { name: "", ...form },
    resource: { kind: "agent", id: "helper", expertIndex: 1 },
    sender: { externalId: "4711", displayName: "Ada", userId: null, verifiedBy: "owner" },
  });
});

test("a repeated request follows the first, and what failed is run again", async () => {
  let runs = 0;
  const agent = agentOf(async () => {
    runs += 1;
    if (runs === 1) throw new TryLater(7);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return `run ${runs}`;
  });
  const refused = await agent.fetch(request());
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "7"]);
  const both = await Promise.all([agent.fetch(request()), agent.fetch(request())]);
  const texts = await Promise.all([...both, await agent.fetch(request())].map((answer) => answer.json()));
  assert.deepEqual([runs, texts], [2, [{ text: "run 2" }, { text: "run 2" }, { text: "run 2" }]]);
});

test("a handler that throws is told to the log alone, before and within a stream", async () => {
  const told: unknown[] = [];
  const onError = (error: unknown) => told.push((error as Error).message);
  const early = await agentOf(() => Promise.reject(new Error("key=123")), { onError }).fetch(request());
  assert.deepEqual([early.status, await early.json()], [500, { error: "the agent failed" }]);
  async function* breaking() {
    yield "It is ";
    await new Promise((resolve) => setTimeout(resolve, 5));
    throw new Error("key=456");
  }
  const late = await (await agentOf(breaking, { onError }).fetch(request())).text();
  assert.equal(late, 'data: {"textDelta":"It is "}\n\n: the agent failed\n\n');
  assert.equal((await agentOf(breaking, { onError }).ask("x")).status, 500);
  assert.deepEqual(told, ["key=123", "key=456", "key=456"]);
});

test("an answer that is none is a failure that names its field", async () => {
  const bad: [unknown, RegExp][] = [
    [3, /not with number/],
    [{ artifacts: [] }, /no field artifacts/],
    [{ text: 3 }, /text must be a string/],
    [{ labels: "new" }, /labels must be an array/],
    [{ files: [{ name: "a" }] }, /needs either data or url/],
    [{ files: [{ name: "a", data: "text" }] }, /must be a Uint8Array/],
  ];
  for (const [answer, expected] of bad) {
    const told: unknown[] = [];
    const agent = agentOf(() => answer as never, { onError: (error) => told.push(error) });
    assert.equal((await agent.ask("x")).status, 500);
    assert.match(String(told[0]), expected);
  }
});

test("the time for an answer is bounded, and its handler is told", async () => {
  const told: unknown[] = [];
  let signal: AbortSignal | undefined;
  const agent = agentOf(
    (message) => {
      signal = message.signal;
      return new Promise<void>(() => {});
    },
    { timeout: 0.01, onError: (error) => told.push(String(error)) },
  );
  assert.equal((await agent.ask("x")).status, 500);
  assert.deepEqual([signal?.aborted, told], [true, ["Error: no answer within 0.01 seconds"]]);
});

test("a handler that thinks for long keeps the connection alive", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const agent = agentOf(
    async () => {
      await gate;
      return "At last";
    },
    { timeout: 1e6 },
  );
  /** Lets time pass until there is a result. */
  async function ticking<T>(result: Promise<T>): Promise<T> {
    let isThere = false;
    void result.finally(() => (isThere = true));
    while (!isThere) {
      await new Promise((resolve) => setImmediate(resolve));
      t.mock.timers.tick(15_000);
    }
    return result;
  }
  const reader = (await ticking(agent.fetch(request()))).body!.getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  assert.equal(await ticking(next()), ": thinking\n\n");
  goOn();
  let rest = "";
  while (!rest.includes("data")) rest += await next();
  assert.match(rest, /data: {"text":"At last"}\n\n$/);
});

test("more messages at once than allowed are asked to come again", async () => {
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const agent = agentOf(() => gate, { maxRuns: 1 });
  const first = agent.ask("one");
  const second = await agent.ask("two");
  assert.deepEqual([second.status, second.json["error"]], [503, "too many messages are being answered at once"]);
  goOn();
  assert.equal((await first).status, 204);
});

test("requests that are no message are refused with the reason", async () => {
  const agent = agentOf(() => "never", { maxBytes: 2000 });
  const deep = "[".repeat(900) + "]".repeat(900);
  const cases: [Request, number, RegExp][] = [
    [post("{}", { authorization: "Bearer wrong" }), 401, /token is wrong/],
    [post("{}", { authorization: TOKEN }), 401, /token is wrong/],
    [post("{}"), 400, /resource is not an object/],
    [post("[]"), 400, /the request is not an object/],
    [post("{"), 400, /not JSON/],
    [post(new Uint8Array([0xff])), 400, /not JSON/],
    [post(deep), 400, /over 64 levels/],
    [post(" ".repeat(2001)), 413, /over 2000 bytes/],
    [post("", { "content-length": "99999999" }), 413, /over 2000 bytes/],
    [request({ text: 3 }), 400, /text is not a string/],
    [request({ requestId: null }), 400, /requestId is not a string/],
    [request({ files: [{ name: "a" }] }), 400, /files\[0\]\.mimeType is not a string/],
    [request({ sender: { externalId: 1 } }), 400, /sender\.externalId is not a string/],
    [request({ approvedTools: [1] }), 400, /approvedTools is not an array of strings/],
    [request({ choice: "yes" }), 400, /choice is not true or false/],
    [request({ instanceId: 1.5 }), 400, /instanceId is not a whole number/],
    [request({ context: [] }), 400, /context is not an object/],
    [new Request("http://agent/"), 405, /POST/],
  ];
  for (const [asked, status, expected] of cases) {
    const answer = await agent.fetch(asked);
    assert.equal(answer.status, status, String(expected));
    assert.match(((await answer.json()) as { error: string }).error, expected);
  }
});

test("a conversation in a test decides and fills in", async () => {
  const agent = agentOf(async function* (message) {
    if (message.form) yield `Size ${String(message.form.values["size"])}`;
    else if (message.rejects("mail")) yield "Not sent.";
    else if (message.allows("mail")) yield `Sent: ${message.text}`;
    else yield { confirmation: { tool: "mail" } };
  });
  const conversation = new AgentTest(agent);
  assert.equal((await conversation.ask("write")).json["confirmation"].tool, "mail");
  assert.equal((await conversation.decide("rejected")).text, "Not sent.");
  await conversation.ask("write");
  assert.equal((await conversation.decide("approved_for_session")).text, "Sent: write");
  assert.equal((await conversation.ask("again")).text, "Sent: again");
  assert.equal((await conversation.fillIn({ size: "s" })).text, "Size s");
});

test("a server on a socket bounds bodies, and outlives callers that go away", async () => {
  const told: unknown[] = [];
  const agent = agentOf(() => "Hello", { maxBytes: 1000, onError: (error) => told.push(error) });
  const server = await agent.listen(0);
  const { port } = server.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}`;
  assert.deepEqual(await (await fetch(`${address}/healthz`)).json(), { status: "ok" });
  const socket = connect(port, "127.0.0.1");
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 900\r\n\r\nhalf`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
  const pieces = connect(port, "127.0.0.1");
  pieces.write(`POST / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  pieces.write(`800\r\n${"x".repeat(0x800)}\r\n`);
  const [head] = (await once(pieces, "data")) as [Buffer];
  assert.match(head.toString(), /^HTTP\/1\.1 413 [^]*over 1000 bytes/);
  pieces.destroy();
  const headers = { authorization: `bearer ${TOKEN}` };
  const body = await request().text();
  assert.deepEqual(await (await fetch(address, { method: "POST", headers, body })).json(), { text: "Hello" });
  assert.deepEqual(told, []);
  server.close();
  server.closeAllConnections();
});

test("a caller that goes away meanwhile gets the answer of the same run when it comes again", async () => {
  for (const isStream of [true, false]) {
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    let runs = 0;
    const agent = agentOf(async function* () {
      runs += 1;
      if (isStream) yield "one ";
      await gate;
      yield "x".repeat(100_000);
    });
    const server = await agent.listen(0);
    const { port } = server.address() as AddressInfo;
    const body = await request().text();
    const first = connect(port, "127.0.0.1");
    first.write(`POST / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nAccept: text/event-stream\r\n`);
    first.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    if (isStream) await once(first, "data");
    while (!runs) await new Promise((resolve) => setTimeout(resolve, 5));
    first.destroy();
    while (await connections(server)) await new Promise((resolve) => setTimeout(resolve, 5));
    goOn();
    const headers = { authorization: `Bearer ${TOKEN}`, accept: "application/json", connection: "close" };
    const again = await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body });
    assert.equal(((await again.json()) as { text: string }).text.length, isStream ? 100_004 : 100_000);
    assert.equal(runs, 1);
    server.close();
    server.closeAllConnections();
  }
});

function connections(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

test("mistakes of the program are told at once", () => {
  assert.throws(() => new Agent({ token: "" }), /token is empty/);
  assert.throws(() => agentOf(() => "a").onMessage(() => "b"), /a handler of messages already/);
});
