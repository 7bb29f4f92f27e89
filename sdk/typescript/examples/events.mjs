// Prints answers as they are given, whatever breaks: node examples/events.mjs http://localhost:3011 KEY
import { Client } from "switchboard-sdk";

const [url, key] = process.argv.slice(2);
const client = new Client({ url, key });
for await (const event of client.events({ kinds: ["message.answered"] })) {
  console.log(event.id, event.data.text);
}
