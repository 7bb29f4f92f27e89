import assert from "node:assert/strict";
import { test } from "node:test";
import { BadSignature, verifyPush } from "../src/index.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NOW = 1_800_000_000;
const BODY = Buffer.from('{"id":42,"kind":"message.answered"}');
/** The signature was made by the library of Standard Webhooks for Python. */
const HEADERS = {
  "webhook-id": "evt_42",
  "webhook-timestamp": String(NOW),
  "webhook-signature": "v1,AA== v1,a9F/GAwU/4e8MJDxp4j0NeXjyxscxh36WopBMty8dEc=",
};

test("a push of the holder of the secret is an event", () => {
  assert.deepEqual(verifyPush(SECRET, HEADERS, BODY, NOW + 60), { id: 42, kind: "message.answered" });
  assert.equal(verifyPush(SECRET, new Headers(HEADERS), BODY, NOW).id, 42);
});

test("any other push is refused", () => {
  const refused: [string, Record<string, string>, Buffer, number][] = [
    ["whsec_AAAA", HEADERS, BODY, NOW],
    [SECRET, HEADERS, Buffer.concat([BODY, Buffer.from(" ")]), NOW],
    [SECRET, { ...HEADERS, "webhook-id": "evt_43" }, BODY, NOW],
    [SECRET, HEADERS, BODY, NOW + 301],
    [SECRET, { ...HEADERS, "webhook-timestamp": "9".repeat(5000) }, BODY, NOW],
    [SECRET, { ...HEADERS, "webhook-signature": "v1,é" }, BODY, NOW],
    [SECRET, {}, BODY, NOW],
  ];
  for (const [secret, headers, body, now] of refused) {
    assert.throws(() => verifyPush(secret, headers, body, now), BadSignature);
  }
  assert.throws(() => verifyPush("none!", HEADERS, BODY, NOW), /whsec_ and base64/);
});
