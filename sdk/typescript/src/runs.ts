/** Runs of a handler: one for each request, which a repeated request follows instead of running it again. */

import { Buffer } from "node:buffer";
import { type Answer, answerJson, answerOf, joined, type Part } from "./answers.js";
import { Message, type MessageFields } from "./messages.js";

type Parts = AsyncIterable<Part, Part | void> | Iterable<Part, Part | void>;

/**
 * Answers a message. It returns or yields text, or an object such as `{ text, files }`. Text that is yielded is shown
 * while the answer is being made.
 */
export type Handler = (message: Message) => Parts | Part | void | Promise<Part | void>;

const REMEMBERED = 500;
const REMEMBERED_BYTES = 64_000_000;

/** One run. `deltas` are the pieces of text so far. At the end `body` (JSON of the answer) or `error` is set. */
export class Run {
  deltas: string[] = [];
  body: string | undefined;
  error: unknown;
  isDone = false;
  private tellWaiting: () => void = () => {};
  private news = this.nextNews();

  /** Returns when there are more than `seen` deltas, at the end of the run, or after so many milliseconds. */
  async wait(seen: number, milliseconds: number): Promise<void> {
    if (this.deltas.length > seen || this.isDone) return;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
    await Promise.race([this.news, over]);
    clearTimeout(timer);
  }

  /** Never throws. */
  async execute(handler: Handler, fields: MessageFields, seconds: number): Promise<void> {
    const time = new AbortController();
    const timer = setTimeout(() => time.abort(new Error(`no answer within ${seconds} seconds`)), seconds * 1000);
    try {
      const message = new Message(fields, time.signal);
      const answer = await Promise.race([this.collected(handler, message), aborted(time.signal)]);
      this.body = JSON.stringify(answerJson(answer));
    } catch (error) {
      this.error = error;
    }
    clearTimeout(timer);
    this.isDone = true;
    this.tell();
  }

  private async collected(handler: Handler, message: Message): Promise<Answer> {
    const made = await handler(message);
    const parts = iterator(made);
    if (parts === undefined) return answerOf(made);
    let answer: Answer = {};
    for (;;) {
      const { value, done } = await parts.next();
      if (message.signal.aborted) {
        await parts.return?.();
        return answer;
      }
      const part = answerOf(value);
      answer = joined(answer, part);
      if (done) return answer;
      if (part.text) this.add(part.text);
    }
  }

  private add(text: string): void {
    this.deltas.push(text);
    this.tell();
  }

  private tell(): void {
    this.tellWaiting();
    this.news = this.nextNews();
  }

  private nextNews(): Promise<void> {
    return new Promise((resolve) => (this.tellWaiting = resolve));
  }
}

/** The runs under way, and a bounded memory of those that ended well. The next request tries again what failed. */
export class Runs {
  private readonly underWay = new Map<string, Run>();
  private readonly remembered = new Map<string, Run>();
  private bytes = 0;

  constructor(
    private readonly most: number,
    private readonly mostRemembered = REMEMBERED,
    private readonly mostBytes = REMEMBERED_BYTES,
  ) {}

  get isFull(): boolean {
    return this.underWay.size >= this.most;
  }

  find(requestId: string): Run | undefined {
    return this.underWay.get(requestId) ?? this.remembered.get(requestId);
  }

  start(handler: Handler, fields: MessageFields, seconds: number): Run {
    const run = new Run();
    this.underWay.set(fields.requestId, run);
    void run.execute(handler, fields, seconds).then(() => this.end(fields.requestId, run));
    return run;
  }

  private end(requestId: string, run: Run): void {
    this.underWay.delete(requestId);
    if (run.body === undefined) return;
    run.deltas = []; // the body has them
    this.remembered.set(requestId, run);
    this.bytes += Buffer.byteLength(run.body);
    for (const [oldest, forgotten] of this.remembered) {
      if (this.remembered.size <= this.mostRemembered && this.bytes <= this.mostBytes) return;
      this.remembered.delete(oldest);
      this.bytes -= Buffer.byteLength(forgotten.body ?? "");
    }
  }
}

function iterator(made: unknown): AsyncIterator<unknown> | Iterator<unknown> | undefined {
  if (typeof made !== "object" || made === null) return undefined;
  if (Symbol.asyncIterator in made) return (made as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  if (Symbol.iterator in made) return (made as Iterable<unknown>)[Symbol.iterator]();
  return undefined;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
