// What the operator learns about an upstream that does not list its models.

import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { systemClock } from "../../src/domain/clock.ts";
import { Replica } from "../../src/gateway/replica.ts";
import { freePort } from "../support/free-port.ts";
import { chatServer, fixtureServer, helloStream, modelList } from "./fixture-server.ts";
import { rawServer } from "./raw-server.ts";

const timeouts = { connectMs: 1000, silenceMs: 1000 };
const TLS = join(import.meta.dir, "../fixtures/tls");
const file = (name: string) => Bun.file(join(TLS, name));
const secure = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  tls: { key: file("key.pem"), cert: file("cert.pem") },
  fetch: () => Response.json(modelList("far")),
});
afterAll(() => secure.stop(true));

test.each([
  ["nothing listens", async () => `http://127.0.0.1:${await freePort()}`, "nothing listens at its address"],
  ["the name is unknown", () => "http://nobody.invalid", "its host name cannot be resolved"],
  ["the certificate is not trusted", () => `https://127.0.0.1:${secure.port}`, "NODE_EXTRA_CA_CERTS"],
  ["https is wanted", () => `http://127.0.0.1:${secure.port}`, "perhaps it expects https"],
  ["https is not spoken", () => chatServer(helloStream).url.replace("http:", "https:"), "does not speak HTTPS"],
  ["something else answers", () => rawServer((socket) => socket.end("220 mail\r\n"), false), "closed the connection"],
  ["the path is wrong", () => `${chatServer(helloStream).url}/api`, "nothing at /v1/models: check its address"],
  [
    "a web page answers",
    () => fixtureServer(() => Response.json({ hello: "world" })).url,
    "lists no models at /v1/models: check its address",
  ],
])("when %s", async (_, address, why) => {
  const url = await address();
  const replica = new Replica({ url }, timeouts, systemClock);
  await replica.refresh();
  expect(replica.status().lastError).toContain(why);
});

test("which is the proxy, if that is what cannot be reached", async () => {
  const proxy = `http://127.0.0.1:${await freePort()}`;
  const replica = new Replica({ url: "http://far.invalid", proxy }, timeouts, systemClock);
  await replica.refresh();
  expect(replica.status().lastError).toBe(
    "The server of this model cannot be reached through the proxy: nothing listens at its address.",
  );
});

test("nothing, when NODE_EXTRA_CA_CERTS names the authority of its certificate", async () => {
  const code = `
    const { Replica } = await import(${JSON.stringify(join(import.meta.dir, "../../src/gateway/replica.ts"))});
    const clock = { now: () => 0, wall: () => 0 };
    const replica = new Replica({ url: "https://127.0.0.1:${secure.port}" }, ${JSON.stringify(timeouts)}, clock);
    await replica.refresh();
    console.log(replica.state);`;
  const env = { NODE_EXTRA_CA_CERTS: join(TLS, "cert.pem") };
  const child = Bun.spawn([process.execPath, "-e", code], { env, stdout: "pipe" });
  expect(await child.stdout.text()).toBe("up\n");
});
