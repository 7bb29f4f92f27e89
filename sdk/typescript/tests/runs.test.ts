import assert from "node:assert/strict";
import { test } from "node:test";
import { readMessage } from "../src/messages.js";
import { type Handler, type Run, Runs } from "../src/runs.js";

function fields(requestId: string) {
  const body = { text: "Hi", sessionId: "1", requestId, channelId: "bot", resource: { kind: "agent", id: "a" } };
  return readMessage(Buffer.from(JSON.stringify({ ...body, sender: { externalId: "1" } })));
}

async function finished(run: Run): Promise<Run> {
  await run.wait(Infinity, 60_000);
  await new Promise((resolve) => setImmediate(resolve));
  return run;
}

test("answers are remembered up to a number and to a size, the latest", async () => {
  const start = (runs: Runs, requestId: string, text: string) =>
    finished(runs.start(() => text, fields(requestId), 60));
  const few = new Runs(9, 2);
  for (const id of ["a", "b", "c"]) await start(few, id, id);
  assert.deepEqual(
    ["a", "b", "c"].map((id) => few.find(id)?.body),
    [undefined, '{"text":"b"}', '{"text":"c"}'],
  );
  const small = new Runs(9, 9, 100);
  for (const id of ["a", "b", "c"]) await start(small, id, "x".repeat(30));
  await start(small, "huge", "x".repeat(200));
  assert.deepEqual(
    ["a", "b", "c", "huge"].map((id) => small.find(id) !== undefined),
    [false, false, false, false],
  );
});

test("what a handler yields, returns or lists is one answer", async () => {
  const handlers: Handler[] = [
    () => ["one", { labels: ["a"] }, { text: "two", labels: ["b"], assign: "user:1" }],
    function* () {
      yield "one";
      yield { labels: ["a"], assign: "user:2" };
      return { text: "two", labels: ["b"], assign: "user:1" };
    },
    async () => ({ text: "onetwo", labels: ["a", "b"], assign: "user:1" }),
  ];
  for (const handler of handlers) {
    const run = await finished(new Runs(1).start(handler, fields("a"), 60));
    assert.deepEqual(JSON.parse(run.body!), { text: "onetwo", labels: ["a", "b"], assign: "user:1" });
  }
});

test("a handler that goes on when its time is over is ended at its next part", async () => {
  let ended = false;
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  async function* handler() {
    try {
      await gate;
      yield "late";
      assert.fail("it goes on");
    } finally {
      ended = true;
    }
  }
  const run = await finished(new Runs(1).start(handler, fields("a"), 0.01));
  assert.match(String(run.error), /no answer within 0\.01 seconds/);
  goOn();
  while (!ended) await new Promise((resolve) => setImmediate(resolve));
});
