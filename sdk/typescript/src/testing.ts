/** Asks an agent in tests as Switchboard does, without a server. */

import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { Agent } from "./agent.js";

/** An answer as Switchboard gets it. `pieces`: the texts that were streamed; `json`: the whole answer. */
export interface Reply {
  status: number;
  text: string;
  pieces: string[];
  json: Record<string, any>;
  /** The files that lie in the answer, by name. */
  files: Record<string, Uint8Array>;
}

/** One conversation with an agent. */
export class AgentTest {
  readonly #agent: Agent;
  readonly #userId: string | null;
  readonly #sessionId: string;
  readonly #approved: string[] = [];
  #text = "";
  #tool = "";

  constructor(agent: Agent, options: { sessionId?: string; userId?: string } = {}) {
    this.#agent = agent;
    this.#sessionId = options.sessionId ?? "test";
    this.#userId = options.userId ?? null;
  }

  /** Write to the agent. `fields` are further ones of the request: `{ context: {...} }`. */
  ask(text: string, fields: Record<string, unknown> = {}): Promise<Reply> {
    this.#text = text;
    return this.#post({ text, ...fields });
  }

  /** Decide on the tool that the last answer asked for. */
  decide(decision: "approved" | "approved_for_session" | "rejected"): Promise<Reply> {
    if (!this.#tool) throw new TypeError("the last answer asked for no decision");
    if (decision === "approved_for_session") this.#approved.push(this.#tool);
    return this.#post({ text: this.#text, approval: { confirmationId: randomUUID(), tool: this.#tool, decision } });
  }

  /** Fill in a form. */
  fillIn(values: Record<string, unknown>, name = ""): Promise<Reply> {
    const lines = Object.entries(values).map(([field, value]) => `${field}: ${String(value)}`);
    return this.ask(lines.join("\n"), { form: name ? { name, values } : { values } });
  }

  async #post(fields: Record<string, unknown>): Promise<Reply> {
    const requestId = randomUUID();
    const body = {
      resource: { kind: "agent", id: "test", expertIndex: 0 },
      requestId,
      instanceId: 1,
      channelId: "test",
      sessionId: this.#sessionId,
      sender: { externalId: "tester", displayName: "Tester", userId: this.#userId },
      files: [],
      approvedTools: this.#approved,
      ...fields,
    };
    const headers = {
      accept: "text/event-stream, application/json",
      "idempotency-key": requestId,
      ...this.#agent.authorization,
    };
    const request = new Request("http://agent/", { method: "POST", headers, body: JSON.stringify(body) });
    const reply = await replyOf(await this.#agent.fetch(request));
    this.#tool = reply.json["confirmation"]?.tool ?? "";
    return reply;
  }
}

async function replyOf(response: Response): Promise<Reply> {
  const body = await response.text();
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const lines = body.split("\n").filter((line) => line.startsWith("data: "));
  const objects: Record<string, any>[] = isStream
    ? lines.map((line) => JSON.parse(line.slice(6)))
    : body
      ? [JSON.parse(body)]
      : [];
  const pieces = objects.flatMap((object) => ("textDelta" in object ? [String(object["textDelta"])] : []));
  const json = objects.find((object) => !("textDelta" in object)) ?? {};
  const broken = isStream && pieces.length === objects.length;
  const files: Record<string, Uint8Array> = {};
  for (const { name, dataBase64 } of json["artifacts"] ?? []) {
    if (dataBase64 !== undefined) files[name] = Buffer.from(dataBase64, "base64");
  }
  return { status: broken ? 500 : response.status, text: String(json["text"] ?? ""), pieces, json, files };
}
