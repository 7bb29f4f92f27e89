import { promisify } from "node:util";
import { credentials, loadPackageDefinition, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const [target, key] = process.argv.slice(2);
const options = { includeDirs: ["proto"], defaults: true, longs: Number };
const definition = loadSync("switchboard/channels/v1/instances.proto", options);
const { InstanceService } = loadPackageDefinition(definition).switchboard.channels.v1;
const service = new InstanceService(target, credentials.createInsecure());
const metadata = new Metadata();
metadata.set("authorization", `Bearer ${key}`);
const listInstances = promisify(service.listInstances).bind(service);
for (let pageToken = "", more = true; more; more = pageToken !== "") {
  const page = await listInstances({ pageToken }, metadata, { deadline: Date.now() + 15_000 });
  for (const instance of page.instances) console.log(instance.id, instance.channelName, instance.downstreamResourceId);
  pageToken = page.nextPageToken;
}
service.close();
