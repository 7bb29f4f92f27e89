/** The client of Switchboard's REST interface. */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type File, fileJson } from "./answers.js";
import { ConnectionFailed, SwitchboardError } from "./errors.js";
import { type Event, type EventKind, EventStream } from "./events.js";
import { backOff, type Call, fetchAnswer, PASSING } from "./http.js";
import type { CallOptions, EntryOf, ListOf, MethodOf, OptionsOf, Path, ResultOf, Schemas } from "./operations.js";

const UPLOAD_SECONDS = 900;
/** There is a sign of life every 15 seconds. */
const SILENCE_MILLISECONDS = 45_000;

export interface ClientOptions {
  /** The address of the gateway. */
  url: string;
  /** An API key. */
  key: string;
  /** For whom a service acts that calls with the internal service key. */
  userId?: string;
  /** Seconds for an answer. */
  timeout?: number;
  /**
   * How often a call is made again that was refused with 429 or 503, or whose connection broke; after all but 429
   * only calls that cannot do anything twice.
   */
  retries?: number;
}

interface AnyOptions extends CallOptions {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  json?: unknown;
}

type Message = Omit<Schemas["SendMessage"], "files"> & {
  files?: File[];
  /** Give a key of your own where your program may repeat the whole call. */
  idempotencyKey?: string;
};

/** Calls Switchboard as the holder of an API key. Calls throw `SwitchboardError` and `ConnectionFailed`. */
export class Client {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;
  readonly #retries: number;

  constructor(options: ClientOptions) {
    const { url, key, userId, timeout = 60, retries = 4 } = options;
    if (!url || !key) throw new TypeError("a client needs url, the address of the gateway, and key, an API key");
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new TypeError("url must be a whole address, such as http://localhost:3011");
    this.#base = url.replace(/\/+$/, "");
    this.#headers = { authorization: `Bearer ${key}`, ...(userId ? { "x-user-id": userId } : {}) };
    new Headers(this.#headers); // throws where the key or the user has characters that no header may have
    this.#timeout = timeout;
    this.#retries = retries;
  }

  /** Make any call: `request("GET", "/api/agent/agents/{agentId}", { path: { agentId: 1 } })`. */
  request<P extends Path, M extends MethodOf<P>>(
    method: M,
    path: P,
    options: OptionsOf<P, M>,
  ): Promise<ResultOf<P, M>> {
    return fetchAnswer(this.#call(method, path, options as AnyOptions), bodyOf) as Promise<ResultOf<P, M>>;
  }

  /** Make any call, for its answer as it comes: of downloads and exports. */
  fetch(method: string, path: string, options: AnyOptions = {}): Promise<Response> {
    return fetchAnswer(this.#call(method, path, options), (answer) => answer);
  }

  /** All entries of a list that is given page by page: `pages("/api/agent/agents", "agents", {})`. */
  async *pages<P extends Path, K extends ListOf<ResultOf<P, "GET">>>(
    path: P,
    field: K,
    options: "GET" extends MethodOf<P> ? OptionsOf<P, "GET"> : never,
  ): AsyncGenerator<EntryOf<ResultOf<P, "GET">, K>> {
    const given = options as AnyOptions;
    for (let cursor: string | null | undefined; ;) {
      const call = this.#call("GET", path, { ...given, query: { ...given.query, cursor } });
      const page = (await fetchAnswer(call, bodyOf)) as Record<string, any>;
      yield* page[field];
      cursor = page["next"];
      if (cursor === null || cursor === undefined) return;
    }
  }

  /**
   * Events as they happen, without an end. A connection that breaks is made again, and nothing is missed.
   *
   * `after`: go on behind the event of this id; without it the stream begins now.
   */
  async *events(
    options: { kinds?: EventKind[]; instanceIds?: number[]; after?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Event> {
    const { kinds, instanceIds, after, signal } = options;
    const stream = new EventStream(after);
    for (let attempt = 0; ; attempt++) {
      let retryAfter: number | undefined;
      const silence = new Silence(signal);
      try {
        const headers = stream.cursor === undefined ? {} : { "Last-Event-ID": String(stream.cursor) };
        const call = this.#call("GET", "/api/agent/events", { query: { kinds, instanceId: instanceIds }, headers });
        const open: Call = { ...call, retries: 0, signal: silence.signal };
        delete open.milliseconds;
        stream.begin();
        for await (const piece of await fetchAnswer(open, (answer) => answer.body ?? [])) {
          attempt = 0;
          silence.end();
          yield* stream.feed(piece);
          silence.begin();
        }
      } catch (error) {
        signal?.throwIfAborted();
        retryAfter = waitAfter(error);
      } finally {
        silence.end();
      }
      await sleep(backOff(attempt, retryAfter) * 1000, undefined, signal ? { signal } : {});
    }
  }

  /**
   * Send a message: to a known conversation, to an address, or to the default address of the instance.
   *
   * Each call has an idempotency key, so that a repeated request sends nothing twice.
   */
  send(instanceId: number, message: string | Message): Promise<Schemas["MessageQueued"]> {
    const {
      idempotencyKey = randomUUID(),
      files,
      ...fields
    } = typeof message === "string" ? { text: message } : message;
    return this.request("POST", "/api/agent/channel-instances/{instanceId}/messages", {
      path: { instanceId },
      json: { ...fields, ...(files ? { files: files.map(fileJson) as Schemas["FileToSend"][] } : {}) },
      headers: { "Idempotency-Key": idempotencyKey },
    });
  }

  /** One message, and what became of it. */
  message(instanceId: number, messageId: string): Promise<Schemas["ConversationMessage"]> {
    const path = "/api/agent/channel-instances/{instanceId}/messages/{messageId}";
    return this.request("GET", path, { path: { instanceId, messageId } });
  }

  /** Conversations, the latest first. */
  conversations(
    query: { instanceId?: number[]; query?: string; waiting?: boolean; handler?: "person" | "resource" } = {},
  ): AsyncGenerator<Schemas["Conversation"]> {
    return this.pages("/api/agent/conversations", "conversations", { query });
  }

  /** The messages of a conversation. */
  messages(
    instanceId: number,
    sessionId: string,
    query: { latestFirst?: boolean } = {},
  ): AsyncGenerator<Schemas["ConversationMessage"]> {
    const path = "/api/agent/channel-instances/{instanceId}/conversations/{sessionId}/messages";
    return this.pages(path, "messages", { path: { instanceId, sessionId }, query });
  }

  /** Hand a conversation over to a person, or back to its resource. */
  async setHandler(instanceId: number, sessionId: string, handler: Schemas["SetHandler"]): Promise<void> {
    const path = "/api/agent/channel-instances/{instanceId}/conversations/{sessionId}/handler";
    await this.request("PUT", path, { path: { instanceId, sessionId }, json: handler });
  }

  /** The instances of the caller. */
  instances(): Promise<Schemas["ChannelInstance"][]> {
    return this.request("GET", "/api/agent/channel-instances", {});
  }

  instance(instanceId: number): Promise<Schemas["ChannelInstance"]> {
    return this.request("GET", "/api/agent/channel-instances/{instanceId}", { path: { instanceId } });
  }

  /** Connect a channel. */
  createInstance(instance: Schemas["CreateInstance"]): Promise<Schemas["CreatedInstance"]> {
    return this.request("POST", "/api/agent/channel-instances", { json: instance });
  }

  updateInstance(instanceId: number, change: Schemas["UpdateInstance"]): Promise<Schemas["UpdatedInstance"]> {
    return this.request("PUT", "/api/agent/channel-instances/{instanceId}", { path: { instanceId }, json: change });
  }

  async deleteInstance(instanceId: number): Promise<void> {
    await this.request("DELETE", "/api/agent/channel-instances/{instanceId}", { path: { instanceId } });
  }

  /** What works of an instance, and what does not. */
  instanceHealth(instanceId: number): Promise<Schemas["InstanceHealth"]> {
    return this.request("GET", "/api/agent/channel-instances/{instanceId}/health", { path: { instanceId } });
  }

  /** The stored agents that the caller may use. */
  agents(): AsyncGenerator<Schemas["Agent"]> {
    return this.pages("/api/agent/agents", "agents", {});
  }

  createAgent(agent: Schemas["AgentBody"]): Promise<Schemas["Agent"]> {
    return this.request("POST", "/api/agent/agents", { json: agent });
  }

  updateAgent(agentId: number, change: Schemas["AgentBody"]): Promise<Schemas["Agent"]> {
    return this.request("PUT", "/api/agent/agents/{agentId}", { path: { agentId }, json: change });
  }

  async deleteAgent(agentId: number): Promise<void> {
    await this.request("DELETE", "/api/agent/agents/{agentId}", { path: { agentId } });
  }

  /** Ask an agent, and see what was sent to it. */
  testAgent(agentId: number, text: string): Promise<Schemas["AgentTest"]> {
    return this.request("POST", "/api/agent/agents/{agentId}/test", { path: { agentId }, json: { text } });
  }

  /** The knowledge bases that the caller may use. */
  async knowledgeBases(): Promise<Schemas["ListedKnowledgeBase"][]> {
    return (await this.request("GET", "/api/agent/kb", {})).knowledgeBases;
  }

  createKnowledgeBase(name: string, description = ""): Promise<Schemas["CreatedKnowledgeBase"]> {
    return this.request("POST", "/api/agent/kb", { json: { name, description } });
  }

  /** Upload files to a knowledge base, all or none. Without `wait` they are read later: see `fileStates`. */
  upload(
    id: number,
    files: { name: string; data: Uint8Array | Blob | string }[],
    { wait = true }: { wait?: boolean } = {},
  ): Promise<Schemas["UploadAnswer"]> {
    const form = new FormData();
    for (const { name, data } of files) form.append("files", data instanceof Blob ? data : new Blob([data]), name);
    const headers: Record<string, string> = wait ? {} : { Prefer: "respond-async" };
    const call = { path: { id }, form, headers, timeout: UPLOAD_SECONDS };
    return fetchAnswer(this.#call("POST", "/api/agent/kb/{id}/uploadfile", call), bodyOf) as Promise<
      Schemas["UploadAnswer"]
    >;
  }

  /** How far the files of a knowledge base are. */
  fileStates(id: number, query: { name?: string } = {}): AsyncGenerator<Schemas["FileState"]> {
    return this.pages("/api/agent/kb/{id}/file-states", "files", { path: { id }, query });
  }

  /** Search a knowledge base by words and by meaning, the best passages first. */
  async search(
    id: number,
    query: string,
    options: Omit<Schemas["SearchRequest"], "query"> = {},
  ): Promise<Schemas["SearchResult"][]> {
    const json = { query, ...options };
    return (await this.request("POST", "/api/agent/kb/{id}/search", { path: { id }, json })).results;
  }

  /** Ask a knowledge base; the answer cites its passages. */
  ask(id: number, question: string, history?: Schemas["AskTurn"][]): Promise<Schemas["AskAnswer"]> {
    const json = history ? { question, history } : { question };
    return this.request("POST", "/api/agent/kb/{id}/ask", { path: { id }, json });
  }

  #call(method: string, path: string, options: AnyOptions): Call {
    const headers: Record<string, string> = { ...this.#headers };
    if (options.json !== undefined) headers["content-type"] = "application/json";
    for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = value;
    return {
      method,
      url: this.#base + filledIn(path, options.path ?? {}) + queryOf(options.query ?? {}),
      headers,
      body: options.json === undefined ? options.form : JSON.stringify(options.json),
      milliseconds: (options.timeout ?? this.#timeout) * 1000,
      retries: this.#retries,
      signal: options.signal,
    };
  }
}

/** Ends a stream that gives no sign of life, or that its reader does not want any more. */
class Silence {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal;
  #timer: NodeJS.Timeout | undefined;

  constructor(stop: AbortSignal | undefined) {
    this.signal = stop ? AbortSignal.any([this.#controller.signal, stop]) : this.#controller.signal;
    this.begin();
  }

  begin(): void {
    this.#timer = setTimeout(() => this.#controller.abort(new Error("no sign of life")), SILENCE_MILLISECONDS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** Seconds before a stream is opened again, undefined for the usual ones. Throws what no second try mends. */
function waitAfter(error: unknown): number | undefined {
  if (error instanceof SwitchboardError) {
    if (!PASSING.includes(error.status)) throw error;
    return error.retryAfter;
  }
  // What breaks a stream while it is read is a TypeError of fetch, or the end that silence made of it.
  const isBroken = error instanceof ConnectionFailed || error instanceof TypeError || isSilence(error);
  if (!isBroken) throw error;
  return undefined;
}

function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === "no sign of life";
}

async function bodyOf(answer: Response): Promise<unknown> {
  const text = await answer.text();
  if (!text) return null;
  return answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
}

function filledIn(path: string, values: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === null || value === "")
      throw new TypeError(`path.${name} is missing for ${path}`);
    return encodeURIComponent(String(value));
  });
}

/** The parameters that are given; lists are separated by commas. */
function queryOf(values: Record<string, unknown>): string {
  const given = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== null && String(value) !== "",
  );
  return given.length
    ? `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
    : "";
}
