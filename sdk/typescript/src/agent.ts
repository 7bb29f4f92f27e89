/** An agent behind Switchboard: a handler of messages, served by node:http or by whatever takes `fetch`. */

import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import { BadMessage, type MessageFields, readMessage } from "./messages.js";
import { answerJson } from "./answers.js";
import { type Handler, type Run, Runs } from "./runs.js";
import { AgentTest, type Reply } from "./testing.js";

const KEEP_ALIVE_MILLISECONDS = 15_000;
const EMPTY = JSON.stringify(answerJson({}));

/** Thrown by a handler that cannot answer now: Switchboard asks again, not before so many seconds. */
export class TryLater extends Error {
  override name = "TryLater";

  constructor(readonly seconds = 1) {
    super(`asked to try again in ${seconds} seconds`);
  }
}

export interface AgentOptions {
  /** The Bearer token that Switchboard calls with; null lets everybody in who reaches the agent. */
  token: string | null;
  /** Seconds for an answer. */
  timeout?: number;
  /** Bytes of a request. */
  maxBytes?: number;
  /** Messages that are answered at once; further ones are asked to come again. */
  maxRuns?: number;
  /** Is told what the handler threw. */
  onError?: (error: unknown) => void;
}

interface Asked {
  method: string;
  path: string;
  header: (name: string) => string;
  body: AsyncIterable<Uint8Array>;
}

interface Answered {
  status: number;
  headers: Record<string, string>;
  body: string | AsyncIterable<string>;
}

/**
 * Answers the messages that Switchboard sends to a resource of kind `http`.
 *
 * POST to any path is a message, GET `/healthz` tells that the agent is up.
 */
export class Agent {
  readonly #token: string | null;
  readonly #timeout: number;
  readonly #maxBytes: number;
  readonly #onError: (error: unknown) => void;
  readonly #runs: Runs;
  #handle: Handler | undefined;

  constructor(options: AgentOptions) {
    const { token, timeout = 600, maxBytes = 8_000_000, maxRuns = 200 } = options;
    if (token === "" || token === undefined) {
      throw new TypeError("token is empty; give the token that Switchboard calls with, or null to let everybody in");
    }
    this.#token = token;
    this.#timeout = timeout;
    this.#maxBytes = maxBytes;
    this.#onError = options.onError ?? ((error) => console.error("the handler failed:", error));
    this.#runs = new Runs(maxRuns);
  }

  /** Set the function that answers messages. */
  onMessage(handler: Handler): this {
    if (this.#handle !== undefined) throw new TypeError("this agent has a handler of messages already");
    this.#handle = handler;
    return this;
  }

  /** Serve until the server is closed. */
  async listen(port: number, host = "127.0.0.1"): Promise<Server> {
    const server = createServer(this.handler).listen(port, host);
    await once(server, "listening");
    return server;
  }

  /** The headers that a caller needs. */
  get authorization(): Record<string, string> {
    return this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
  }

  /** Ask in a test, as Switchboard does, without a server. `AgentTest` has a whole conversation. */
  ask(text: string, fields: Record<string, unknown> = {}): Promise<Reply> {
    return new AgentTest(this).ask(text, fields);
  }

  /** Answers requests of node:http, Express and the like: `createServer(agent.handler)`. */
  readonly handler = (request: IncomingMessage, response: ServerResponse): void => {
    const asked: Asked = {
      method: request.method ?? "",
      path: (request.url ?? "").split("?", 1)[0] ?? "",
      header: (name) => String(request.headers[name] ?? ""),
      body: request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>,
    };
    this.#answer(asked)
      .then((answered) => write(answered, response))
      .catch((error: unknown) => {
        if (response.destroyed) return; // the caller went away
        this.#onError(error);
        response.destroy();
      });
  };

  /** Answers requests of servers that speak `Request` and `Response`. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const { status, headers, body } = await this.#answer({
      method: request.method,
      path: new URL(request.url).pathname,
      header: (name) => request.headers.get(name) ?? "",
      body: request.body ?? nothing(),
    });
    const stream = typeof body === "string" ? body || null : ReadableStream.from(encoded(body));
    return new Response(stream, { status, headers });
  };

  async #answer(asked: Asked): Promise<Answered> {
    if (["GET", "HEAD"].includes(asked.method) && asked.path === "/healthz") return json(200, '{"status":"ok"}');
    if (asked.method !== "POST") return refusal(405, "send messages with POST", { allow: "POST" });
    if (!this.#isAllowed(asked.header("authorization"))) {
      const error = "the token is wrong; the header must be Authorization: Bearer <token>";
      return refusal(401, error, { "www-authenticate": "Bearer" });
    }
    if (this.#handle === undefined) throw new TypeError("the agent has no handler; set one with onMessage");
    const body = await readBody(asked, this.#maxBytes);
    if (body === null) return refusal(413, `the request has over ${this.#maxBytes} bytes`, { connection: "close" });
    let message: MessageFields;
    try {
      message = readMessage(body);
    } catch (error) {
      if (error instanceof BadMessage) return refusal(400, error.message);
      throw error;
    }
    let run = this.#runs.find(message.requestId);
    if (run === undefined) {
      if (this.#runs.isFull)
        return refusal(503, "too many messages are being answered at once", { "retry-after": "1" });
      run = this.#runs.start(this.#handle, message, this.#timeout);
    }
    return this.#follow(run, asked.header("accept").toLowerCase().includes("text/event-stream"));
  }

  #isAllowed(authorization: string): boolean {
    if (this.#token === null) return true;
    const [, token = ""] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(token), digest(this.#token));
  }

  /** The answer of the run; piece by piece if there is text before its end. */
  async #follow(run: Run, streamed: boolean): Promise<Answered> {
    await run.wait(0, KEEP_ALIVE_MILLISECONDS);
    while (!streamed && !run.isDone) await run.wait(run.deltas.length, KEEP_ALIVE_MILLISECONDS);
    if (!run.isDone) {
      const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
      return { status: 200, headers, body: this.#events(run) };
    }
    if (run.body === undefined) return this.#failed(run.error);
    return run.body === EMPTY ? { status: 204, headers: {}, body: "" } : json(200, run.body);
  }

  /** Pieces, and the whole answer at the end; without it Switchboard knows that the run failed. */
  async *#events(run: Run): AsyncGenerator<string> {
    for (let sent = 0; ;) {
      await run.wait(sent, KEEP_ALIVE_MILLISECONDS);
      if (run.isDone) break;
      const pieces = run.deltas.slice(sent);
      sent += pieces.length;
      yield pieces.length ? event(JSON.stringify({ textDelta: pieces.join("") })) : ": thinking\n\n";
    }
    if (run.body === undefined) this.#onError(run.error);
    yield run.body === undefined ? ": the agent failed\n\n" : event(run.body);
  }

  #failed(error: unknown): Answered {
    if (error instanceof TryLater) return refusal(503, error.message, { "retry-after": String(error.seconds) });
    this.#onError(error);
    return refusal(500, "the agent failed");
  }
}

/** The body of a request; null if it is over the limit. */
async function readBody(asked: Asked, most: number): Promise<Uint8Array | null> {
  if (Number(asked.header("content-length")) > most) return null;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of asked.body) {
    size += piece.byteLength;
    if (size > most) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Writes as fast as the caller reads, until it goes away. */
async function write(answered: Answered, response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  response.writeHead(answered.status, answered.headers);
  if (typeof answered.body === "string") {
    response.end(answered.body);
    return;
  }
  const closed = new Promise((resolve) => response.once("close", resolve));
  for await (const piece of answered.body) {
    if (response.destroyed) return;
    if (!response.write(piece))
      await Promise.race([new Promise((resolve) => response.once("drain", resolve)), closed]);
  }
  if (!response.destroyed) response.end();
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function refusal(status: number, error: string, headers: Record<string, string> = {}): Answered {
  return json(status, JSON.stringify({ error }), headers);
}

function json(status: number, body: string, headers: Record<string, string> = {}): Answered {
  return { status, headers: { ...headers, "content-type": "application/json" }, body };
}

function event(data: string): string {
  return `data: ${data}\n\n`;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
