/** Events that Switchboard pushes to an address: their signature, by Standard Webhooks. */

import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Event } from "./events.js";

const TOLERANCE_SECONDS = 300;

/** The push is not from the holder of the secret, or too old. */
export class BadSignature extends Error {
  override name = "BadSignature";
}

/**
 * The event of a push. `secret`: that of the subscription, `whsec_...`; `headers`: those of node:http or of a
 * `Request`; `body`: its bytes as they came. Throws `BadSignature`.
 *
 * Pushes are repeated until they are answered with 2xx: drop an event whose `id` you have seen.
 */
export function verifyPush(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: Uint8Array,
  now = Date.now() / 1000,
): Event {
  const header = (name: string) => String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? "");
  const stamp = header("webhook-timestamp");
  if (!/^\d{1,15}$/.test(stamp) || Math.abs(now - Number(stamp)) > TOLERANCE_SECONDS) {
    throw new BadSignature("webhook-timestamp is missing, or over five minutes away from this machine's time");
  }
  const encoded = secret.replace(/^whsec_/, "");
  const key = Buffer.from(encoded, "base64");
  if (!key.length || key.toString("base64") !== encoded) throw new TypeError("secret is not whsec_ and base64");
  const signed = createHmac("sha256", key)
    .update(`${header("webhook-id")}.${stamp}.`)
    .update(body)
    .digest("base64");
  if (
    !header("webhook-signature")
      .split(" ")
      .some((signature) => isSame(signature, `v1,${signed}`))
  ) {
    throw new BadSignature("webhook-signature does not fit the body");
  }
  return JSON.parse(Buffer.from(body).toString("utf-8")) as Event;
}

function isSame(given: string, expected: string): boolean {
  const [first, second] = [Buffer.from(given), Buffer.from(expected)];
  return first.length === second.length && timingSafeEqual(first, second);
}
