// A real OpenID provider, and the faults that a test asks of it: one JSON object a line in, one out.
import { createInterface } from "node:readline";
import { OAuth2Server } from "oauth2-mock-server";

const server = new OAuth2Server();
const seen = { endSessions: [], keyFetches: 0 };
let person = {};
let userInfo = null;
let fault = "";
let key = await server.issuer.keys.generate("RS256");
const build = server.issuer.buildToken.bind(server.issuer);
server.issuer.buildToken = (options) => build({ ...options, kid: key.kid });
await server.start(0, "127.0.0.1");
const { port } = server.address();
server.issuer.url = `http://localhost:${port}`;

const FAULTS = {
  "another nonce": (payload) => { payload.nonce = "another"; },
  "no nonce": (payload) => { delete payload.nonce; },
  "another audience": (payload) => { payload.aud = "another"; },
  "another issuer": (payload) => { payload.iss = "http://elsewhere.example"; },
  "an expired token": (payload) => { payload.iat -= 7200; payload.exp = payload.iat + 60; },
  "a token of tomorrow": (payload) => { payload.iat += 86400; payload.exp += 86400; },
  "another party": (payload) => { payload.aud = [payload.aud, "another"]; payload.azp = "another"; },
};

server.service.on("beforeTokenSigning", (token) => {
  if (!token.payload.aud) return;
  Object.assign(token.payload, person);
  FAULTS[fault]?.(token.payload);
});
server.service.on("beforeResponse", (response) => {
  if (fault === "an outage") Object.assign(response, { statusCode: 503, body: { error: "server_error" } });
  if (fault === "a refused code") Object.assign(response, { statusCode: 400, body: { error: "invalid_grant" } });
  const parts = response.body.id_token?.split(".") ?? [];
  if (fault === "a wrong signature") response.body.id_token = `${parts[0]}.${parts[1]}.${"A".repeat(342)}`;
  if (fault === "no signature") {
    const header = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    response.body.id_token = `${header}.${parts[1]}.`;
  }
});
server.service.on("beforeUserinfo", (response) => {
  response.body = { sub: person.sub, ...userInfo };
});
server.service.on("beforeAuthorizeRedirect", (redirect) => {
  if (fault === "a refusal") {
    redirect.url.searchParams.delete("code");
    redirect.url.searchParams.set("error", "access_denied");
  }
  if (fault === "another redirect") redirect.url.pathname = "/elsewhere";
  if (fault === "another state") redirect.url.searchParams.set("state", "another");
});
server.service.on("beforePostLogoutRedirect", (redirect, request) => {
  seen.endSessions.push({ hint: Boolean(request.query.id_token_hint), client: request.query.client_id });
});

const COMMANDS = {
  person: (claims, info) => { person = claims; userInfo = info; },
  fault: (name) => { fault = name; },
  rotate: async () => { key = await server.issuer.keys.generate("RS256"); },
  stop: () => server.listening && server.stop(),
  start: () => server.listening || server.start(port, "127.0.0.1"),
  seen: () => seen,
};

console.log(JSON.stringify({ issuer: server.issuer.url }));
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...values] = JSON.parse(line);
  const result = await COMMANDS[name](...values);
  console.log(JSON.stringify(name === "seen" ? result : null));
}
process.exit(0);
