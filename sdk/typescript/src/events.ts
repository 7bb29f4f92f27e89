/** Events of Switchboard, and how a stream of them is read. */

import type { operations } from "./types.js";

/** The kinds that docs/events.md lists. */
export type EventKind = NonNullable<
  NonNullable<operations["watch_api_agent_events_get"]["parameters"]["query"]>["kinds"]
>[number];

/**
 * An event. docs/events.md tells the `data` of each kind; `instanceId` and `sessionId` are there where the event is
 * about an instance or a conversation. The kind `reset` has no more than an `id`: events before it are gone.
 */
export interface Event {
  id: number;
  kind: EventKind | "reset";
  at?: string;
  instanceId?: number | null;
  sessionId?: string | null;
  data?: Record<string, any>;
}

const MAX_EVENT_CHARACTERS = 16_000_000;

/** Reads the bytes of a stream. `cursor` is the id of the last whole frame: the next stream goes on from there. */
export class EventStream {
  #decoder = new TextDecoder();
  #line: string[] = [];
  #size = 0;
  #frame: Record<string, string> = {};

  constructor(public cursor?: number) {}

  /** A new connection: half a frame of the last one does not count. */
  begin(): void {
    this.#decoder = new TextDecoder();
    this.#frame = {};
    this.#reset([]);
  }

  /** The events that end in this piece. Throws `RangeError` for an event of unreasonable size. */
  feed(piece: Uint8Array): Event[] {
    const text = this.#decoder.decode(piece, { stream: true });
    this.#line.push(text);
    this.#size += text.length;
    if (this.#size > MAX_EVENT_CHARACTERS)
      throw new RangeError(`an event has over ${MAX_EVENT_CHARACTERS} characters`);
    if (!text.includes("\n")) return [];
    const lines = this.#line.join("").split("\n");
    this.#reset([lines.pop() ?? ""]);
    return lines.flatMap((line) => this.#take(line.endsWith("\r") ? line.slice(0, -1) : line));
  }

  #reset(line: string[]): void {
    this.#line = line;
    this.#size = line.reduce((size, text) => size + text.length, 0);
  }

  #take(line: string): Event[] {
    if (line) {
      const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/su.exec(line) ?? [];
      this.#frame[name] = value;
      return [];
    }
    const { id, event, data } = this.#frame;
    this.#frame = {};
    if (id !== undefined && /^\d+$/.test(id)) this.cursor = Number(id);
    if (event === "reset") return [{ id: this.cursor ?? 0, kind: "reset" }];
    return data === undefined ? [] : [JSON.parse(data) as Event];
  }
}
