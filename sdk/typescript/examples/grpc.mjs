// Lists instances over gRPC: npm install @grpc/grpc-js @grpc/proto-loader; node examples/grpc.mjs localhost:50051 KEY
import { promisify } from "node:util";
import { credentials, loadPackageDefinition, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const [target, key] = process.argv.slice(2);
const includeDirs = [new URL("../../../proto", import.meta.url).pathname];
const definition = loadSync("switchboard/channels/v1/instances.proto", { includeDirs, defaults: true, longs: Number });
const { InstanceService } = loadPackageDefinition(definition).switchboard.channels.v1;

const service = new InstanceService(target, credentials.createInsecure());
const metadata = new Metadata();
metadata.set("authorization", `Bearer ${key}`);
const { instances } = await promisify(service.listInstances).call(service, { pageToken: "" }, metadata);
for (const instance of instances) console.log(instance.id, instance.channelName, instance.downstreamResourceId);
