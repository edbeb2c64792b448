// The recipes of docs/team.md and the service of the packages, run with their programs on loopback: their text with other
// ports, names and files. Recipes whose program is not installed are skipped.

import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fill } from "../../packaging/template.ts";
import { parseArguments } from "../../src/cli/arguments.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { serve, type TestServer } from "../http/harness.ts";
import { environmentIn } from "../support/environment-in.ts";
import { temporaryFolder } from "../support/folders.ts";
import { freePort } from "../support/free-port.ts";
import { runToEnd } from "../support/program.ts";
import { blocksOf, pages } from "./markdown.ts";

setDefaultTimeout(30_000);

const page = pages().find(({ path }) => path === "docs/team.md");
const HOST = "ai.example.org";
const TLS = join(import.meta.dir, "../fixtures/tls");

function recipe(language: string): string {
  const block = page && blocksOf(page).find((one) => one.language === language);
  if (!block) throw new Error(`docs/team.md has no block in ${language}`);
  return block.code;
}

/** Returns the text with each of `changes` applied; throws when one does not occur. */
function adapted(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    expect(changed).toContain(from);
    return changed.replaceAll(from, to);
  }, text);
}

const slow = () => {
  const gate = Promise.withResolvers<void>();
  const server = serve(
    { steps: [{ text: "first" }, { wait: gate.promise }, { text: "second" }] },
    { allowedHosts: [HOST] },
  );
  return { server, gate };
};

/** Runs a proxy in the foreground during `use`. */
async function whileRunning(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  use: () => Promise<void>,
) {
  const proxy = Bun.spawn([...command], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stderr: "pipe",
    stdout: "ignore",
  });
  try {
    await use();
  } catch (error) {
    proxy.kill();
    throw new Error(`${String(error)}\n${await proxy.stderr.text()}`);
  } finally {
    proxy.kill();
    await proxy.exited;
  }
}

const send = (port: number, method: string, path: string, headers: Readonly<Record<string, string>>, body: object) =>
  fetch(`https://127.0.0.1:${port}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    tls: { rejectUnauthorized: false, serverName: HOST },
  });

/**
 * Asserts that the first piece of a stream arrives before the second is generated, and that svc answers for the
 * public name, to its own page too.
 */
async function streamsThrough(port: number, gate: PromiseWithResolvers<void>): Promise<void> {
  const host = `${HOST}:${port}`;
  const body = { messages: [{ role: "user", content: "Hi" }], stream: true };
  const ask = () => send(port, "POST", "/v1/chat/completions", { host, origin: `https://${host}` }, body);
  const deadline = Date.now() + 10_000;
  let response = await ask().catch(() => undefined);
  while (!response && Date.now() < deadline) {
    await Bun.sleep(50);
    response = await ask().catch(() => undefined);
  }
  expect(response?.status).toBe(200);
  let text = "";
  for await (const bytes of response?.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += bytes;
    if (text.includes("first")) gate.resolve();
  }
  expect(text).toContain("second");
  expect(text).toEndWith("data: [DONE]\n\n");
}

const address = ({ port }: TestServer) => `127.0.0.1:${port}`;

test.skipIf(Bun.which("nginx") === null)("nginx: streams come through, and no caller is local", async () => {
  const { server, gate } = slow();
  const [folder, port] = [temporaryFolder(), await freePort()];
  const site = adapted(recipe("nginx"), {
    "listen 443 ssl": `listen 127.0.0.1:${port} ssl`,
    "/etc/ssl/ai.example.org.pem": join(TLS, "cert.pem"),
    "/etc/ssl/ai.example.org.key": join(TLS, "key.pem"),
    "127.0.0.1:9999": address(server),
  });
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = `daemon off; pid ${folder}/pid; error_log stderr; events {}\nhttp { access_log off; ${paths.join(" ")}\n${site} }\n`;
  writeFileSync(join(folder, "nginx.conf"), config);
  const command = ["nginx", "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")];
  await whileRunning(command, {}, async () => {
    await streamsThrough(port, gate);
    const model = { model: "a" };
    expect((await send(port, "DELETE", "/api/delete", { host: "localhost" }, model)).status).toBe(403);
  });
});

test.skipIf(Bun.which("caddy") === null)("Caddy: a stream comes through piece by piece", async () => {
  const { server, gate } = slow();
  const [folder, port] = [temporaryFolder(), await freePort()];
  const site = adapted(recipe("caddy"), {
    "ai.example.org {": `https://${HOST}:${port} {\n\tbind 127.0.0.1\n\ttls ${join(TLS, "cert.pem")} ${join(TLS, "key.pem")}`,
    "127.0.0.1:9999": address(server),
  });
  writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  const command = ["caddy", "run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
  await whileRunning(command, { HOME: folder }, () => streamsThrough(port, gate));
});

const unit = fill("svc.service", {});

test.skipIf(Bun.which("systemd-analyze") === null)("the service is accepted by systemd", async () => {
  const folder = temporaryFolder();
  const program = join(folder, "svc");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(folder, "svc.service"), adapted(unit, { "/usr/bin/svc": program }));
  const verify = ["systemd-analyze", "verify", "--man=no", join(folder, "svc.service")];
  const { err, code } = await runToEnd(verify);
  expect([err.split("\n").filter((line) => line.includes("svc.service")), code]).toEqual([[], 0]);
});

test("the command of docs/team.md has the service start what was installed after a build", async () => {
  const [, edit = "", file = ""] = /^sed '([^']+)' (\S+) /m.exec(page?.text ?? "") ?? [];
  const { out } = await runToEnd(["sed", edit, join(import.meta.dir, "../..", file)]);
  expect(out).toBe(unit.replace("=/usr/bin/svc", "=/usr/local/bin/svc"));
});

test("the service may ask for the addresses of the machine, and can be reloaded", () => {
  expect(unit).toMatch(/^RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX$/m);
  expect(unit).toMatch(/^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
});

test.each(["docs/team.md", "docs/releases.md"])(
  "the service has the folder and the file of variables that %s names",
  (name) => {
    const { text = "" } = pages().find(({ path }) => path === name) ?? {};
    expect(unit).toMatch(/^EnvironmentFile=-\/etc\/svc\/environment$/m);
    expect(text).toContain("SVC_API_KEY=");
    expect(text).toContain("install -m 600 /dev/stdin /etc/svc/environment");
    expect(text).toContain("sudo svc pull --data-dir /var/lib/svc ");
  },
);

test("the service has the folders that systemd makes, unless its config file names others", () => {
  const folder = temporaryFolder();
  const file = join(folder, "config.toml");
  writeFileSync(file, 'data-dir = "/srv/svc"\n');
  const [, variables = ""] = /^Environment=(.*)$/m.exec(unit) ?? [];
  const environment = { HOME: folder, ...environmentIn(variables) };
  const own = { cacheDir: "/var/cache/svc", dataDir: "/var/lib/svc" };
  expect(readConfig(new Map(), environment, "/")).toMatchObject(own);
  expect(readConfig(new Map([["config", file]]), environment, "/")).toMatchObject({ ...own, dataDir: "/srv/svc" });
  expect([unit.includes("CacheDirectory=svc\n"), unit.includes("StateDirectory=svc\n")]).toEqual([true, true]);
});

test("the command of the service has options that exist", () => {
  const [, args = ""] = /^ExecStart=\S+ (.*)$/m.exec(unit) ?? [];
  expect(parseArguments(args.split(" ")).values.get("config")).toBe("/etc/svc/config.toml");
});
