// What programs do most, against a whole service: node client_walk.mjs URL KEY RECEIVER
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, SwitchboardError } from "../../sdk/typescript/dist/src/index.js";

const [url, key, receiver] = process.argv.slice(2);
const client = new Client({ url, key });

async function all(entries) {
  const found = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

async function refusal(call) {
  const error = await call.then(
    () => assert.fail("it was not refused"),
    (reason) => reason,
  );
  assert.ok(error instanceof SwitchboardError, String(error));
  return error;
}

const config = { responseWebhookUrl: receiver };
const created = await client.createInstance({
  channelId: "http-webhook",
  channelName: "Walk",
  downStreamResourceId: "agent::echo",
  config,
});
const instanceId = created.instanceId;
assert.ok((await client.instances()).some((instance) => instance.id === instanceId));
assert.equal(typeof (await client.instanceHealth(instanceId)).healthy, "boolean");

const message = { text: "hello", to: receiver, idempotencyKey: "order-1" };
const [first, second] = [await client.send(instanceId, message), await client.send(instanceId, message)];
assert.equal(first.messageId, second.messageId);
assert.equal((await refusal(client.send(instanceId, { ...message, text: "another" }))).status, 409);
while ((await client.message(instanceId, first.messageId)).status !== "sent") await sleep(50);
const [conversation] = await all(client.conversations({ instanceId: [instanceId] }));
const messages = await all(client.messages(instanceId, conversation.sessionId));
assert.deepEqual(
  messages.map((each) => each.text),
  ["hello"],
);
await client.setHandler(instanceId, conversation.sessionId, { handler: "person", minutes: 5 });
assert.equal((await all(client.conversations({ handler: "person" }))).length, 1);

const base = await client.createKnowledgeBase("Gardens");
const refused = await refusal(client.upload(base.id, [{ name: "a.exe", data: "MZ" }]));
assert.match(refused.message, /a\.exe/);
assert.deepEqual(await client.search(base.id, "roses", { mode: "text" }), []);
assert.ok((await client.knowledgeBases()).some((each) => each.id === base.id));

const agent = await client.createAgent({ name: "Walk", kind: "http", settings: { url: "http://127.0.0.1:9" } });
assert.equal((await client.updateAgent(agent.id, { name: "Walked" })).name, "Walked");
assert.ok((await all(client.agents())).some((each) => each.name === "Walked"));
await client.deleteAgent(agent.id);
assert.equal((await refusal(client.createAgent({ kind: "http" }))).field, "name");

await client.updateInstance(instanceId, { channelName: "Walked", config });
assert.equal((await client.instance(instanceId)).channelName, "Walked");
await client.deleteInstance(instanceId);
assert.equal((await refusal(client.instanceHealth(instanceId))).status, 404);
console.log("done");
