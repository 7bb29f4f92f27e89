/** Which calls are tried again and when, and how answers are read. */

import { setTimeout as sleep } from "node:timers/promises";
import { ConnectionFailed, SwitchboardError } from "./errors.js";

/** Seconds: a call that may be tried again later than that fails at once. */
const MAX_WAIT = 60;
/** The status with which a call was refused before anything was done. */
const BUSY = 429;
/** Statuses of gateways that do not tell whether anything was done: 503 also where the core did not answer in time. */
const BROKEN = [502, 503, 504];
/** Statuses after which another try may work. */
export const PASSING = [BUSY, ...BROKEN];
/** Codes of errors before the request was sent. */
const NEVER_SENT = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** A call. `milliseconds`: the time for each try, unbounded where left out; `retries`: how often it is made again. */
export interface Call {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | FormData | undefined;
  milliseconds?: number;
  retries: number;
  signal?: AbortSignal | undefined;
}

/** What `read` makes of the answer. Throws `SwitchboardError`, `ConnectionFailed`, and the reason of the signal. */
export async function fetchAnswer<T>(call: Call, read: (answer: Response) => T | Promise<T>): Promise<T> {
  const repeatable = ["GET", "HEAD", "PUT", "DELETE"].includes(call.method) || "idempotency-key" in call.headers;
  for (let attempt = 0; ; attempt++) {
    let seconds: number | undefined;
    let failure: Error;
    try {
      const answer = await fetchOnce(call);
      if (answer.ok) return await read(answer);
      failure = await errorOf(answer);
      seconds = waitAfter(failure as SwitchboardError, attempt, repeatable);
    } catch (error) {
      call.signal?.throwIfAborted();
      failure = new ConnectionFailed(`${call.method} ${call.url}: ${reasonOf(error)}`, { cause: error });
      seconds = repeatable || NEVER_SENT.includes(codeOf(error)) ? backOff(attempt) : undefined;
    }
    if (seconds === undefined || attempt >= call.retries) throw failure;
    await sleep(seconds * 1000, undefined, call.signal ? { signal: call.signal } : {});
  }
}

/** Seconds before the next try. `attempt` counts from 0. */
export function backOff(attempt: number, retryAfter?: number): number {
  return retryAfter ?? Math.min(30, 0.5 * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2);
}

function fetchOnce(call: Call): Promise<Response> {
  const time = call.milliseconds === undefined ? [] : [AbortSignal.timeout(call.milliseconds)];
  const signals = [...time, ...(call.signal ? [call.signal] : [])];
  const { method, headers, body = null } = call;
  return fetch(call.url, { method, headers, body, signal: AbortSignal.any(signals), redirect: "manual" });
}

/** Seconds after which a refused call is made once more; undefined if it is not. */
function waitAfter(error: SwitchboardError, attempt: number, repeatable: boolean): number | undefined {
  if (error.status !== BUSY && !(BROKEN.includes(error.status) && repeatable)) return undefined;
  const seconds = backOff(attempt, error.retryAfter);
  return seconds <= MAX_WAIT ? seconds : undefined;
}

async function errorOf(answer: Response): Promise<SwitchboardError> {
  const body = await answer.text();
  const seconds = answer.headers.get("retry-after") ?? "";
  const retryAfter = /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined;
  return new SwitchboardError(
    answer.status,
    messageOf(body) ?? `${answer.statusText}: ${body.slice(0, 200)}`,
    retryAfter,
  );
}

function messageOf(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body);
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown; errors?: { code?: unknown }[] } };
  return String(cause?.code ?? cause?.errors?.[0]?.code ?? "");
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && (cause.message || codeOf(error)) ? cause.message || codeOf(error) : message;
}
