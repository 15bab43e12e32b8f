// oidc-provider with one client and two users; prints its issuer, and ends with its standard input.
import http from "node:http";
import { Provider } from "oidc-provider";

const groups = { ann: ["helpers"], eve: [], root: ["admins"] };
const server = http.createServer((...given) => handle(...given));
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const issuer = `http://${process.env.HOST ?? "127.0.0.1"}:${server.address().port}`;
const client = {
  client_id: "console",
  redirect_uris: [process.env.BACK],
  response_types: ["code"],
  grant_types: ["authorization_code"],
  ...(process.env.SECRET
    ? { client_secret: process.env.SECRET, token_endpoint_auth_method: process.env.METHOD }
    : { token_endpoint_auth_method: "none", application_type: "native" }),
};
const provider = new Provider(issuer, {
  clients: [client],
  pkce: { required: () => true },
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"], email: ["email"] },
  conformIdTokenClaims: process.env.IN_TOKEN !== "yes",
  findAccount: (_, sub) => ({
    accountId: sub,
    claims: () => ({ sub, preferred_username: sub, groups: groups[sub] }),
  }),
});
provider.on("server_error", (_, error) => console.error(error));
const handle = provider.callback();
console.log(issuer);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
