// An agent that streams, reads files, asks for an approval and for a form: node examples/agent.mjs
import { Agent } from "switchboard-sdk";

const agent = new Agent({ token: process.env.AGENT_TOKEN ?? null });

agent.onMessage(async function* (message) {
  if (message.form?.name === "order") {
    yield `One ${message.form.values.size} pizza is on its way.`;
  } else if (message.text.includes("order")) {
    const options = [
      { label: "Small", value: "small" },
      { label: "Large", value: "large" },
    ];
    yield {
      form: {
        name: "order",
        title: "Order",
        fields: [{ name: "size", label: "Size", type: "choice", required: true, options }],
      },
    };
  } else if (message.rejects("delete_notes")) {
    yield "Then they stay.";
  } else if (message.allows("delete_notes")) {
    yield "The notes are deleted.";
  } else if (message.text.includes("delete")) {
    yield { confirmation: { tool: "delete_notes", parameters: { olderThanDays: 30 } } };
  } else if (message.files.length) {
    yield "Reading… ";
    const content = await message.files[0].read();
    yield { text: `${content.length} bytes.`, files: [{ name: "copy.txt", mimeType: "text/plain", data: content }] };
  } else {
    for (const word of message.text.split(" ")) yield `${word} `;
  }
});

const server = await agent.listen(Number(process.env.PORT ?? 8000));
console.log(`listening on ${server.address().port}`);
