// `svc launch`, with a program in place of the agent that records how it was started.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTls } from "../../src/config/tls.ts";
import { chatServer, helloStream } from "../gateway/fixture-server.ts";
import { create, lineOf, never, on, untilStatus } from "../http/batch-client.ts";
import { messages, serve } from "../http/harness.ts";
import { temporaryFolder } from "../support/folders.ts";
import { freePort } from "../support/free-port.ts";
import { ownEnvironment } from "../support/own-environment.ts";
import { PROGRAM } from "../support/server.ts";

setDefaultTimeout(60_000);

interface Setting {
  readonly script?: string;
  readonly interpreter?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `svc launch` with an agent that executes this script, in an empty home folder. */
function launch(args: readonly string[], { script, interpreter = "/bin/sh", env = {} }: Setting = {}) {
  const home = temporaryFolder();
  if (script !== undefined) {
    for (const agent of ["codex", "aider"])
      writeFileSync(join(home, agent), `#!${interpreter}\n${script}\n`, { mode: 0o755 });
  }
  const child = Bun.spawn([...PROGRAM, "launch", ...args], {
    env: ownEnvironment({ PATH: `${home}:/usr/bin:/bin`, HOME: home, ...env }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const ended = Promise.all([child.exited, child.stdout.text(), child.stderr.text()]).then(([code, out, err]) => ({
    code,
    out,
    err,
  }));
  return { child, ended, home };
}

const at = (port: number) => ["--port", String(port)];

describe("svc launch", () => {
  test("passes the agent its own arguments last and the user's environment, and returns its exit code", async () => {
    const { port } = serve();
    const script = 'printf "%s\\n" "$@"; echo "NODE_ENV=$NODE_ENV MINE=$MINE KEY=$SVC_LAUNCH_KEY"; exit 7';
    const run = launch(["codex", ...at(port), "--api-key", "secret", "--", "exec", "do it"], {
      script,
      env: { MINE: "yes" },
    });
    const { code, out } = await run.ended;
    const lines = out.trimEnd().split("\n");
    expect(code).toBe(7);
    expect(lines).toContain(`model_providers.svc.base_url="http://127.0.0.1:${port}/v1"`);
    expect(lines).toContain('model="fake-model"');
    expect(lines.slice(-3)).toEqual(["exec", "do it", "NODE_ENV= MINE=yes KEY=secret"]);
  });

  test("warns about a context that is too small, and still starts the agent", async () => {
    const { code, out, err } = await launch(["codex", ...at(serve().port)], { script: "echo started" }).ended;
    expect([code, out]).toEqual([0, "started\n"]);
    expect(err).toContain("fake-model takes 4096 tokens per request");
  });

  test("warns in the log's format, and sends the terminal nothing of a model's name", async () => {
    const data = [{ id: "far/\u001b[2J", owned_by: "vllm", max_context_length: 4096 }];
    using server = Bun.serve({ port: 0, fetch: () => Response.json({ data }) });
    const start = (...more: string[]) =>
      launch(["codex", ...at(server.port ?? 0), ...more], { script: "echo started" }).ended;
    expect((await start()).err).toStartWith("svc: far/ [2J takes 4096 tokens");
    const { err } = await start("--log-format", "json");
    expect(JSON.parse(err)).toMatchObject({ level: "warn", message: expect.stringContaining("takes 4096 tokens") });
  });

  test("removes its temporary files when the agent has ended", async () => {
    const { out } = await launch(["aider", ...at(serve().port)], { script: 'echo "$4"; test -s "$4" && echo there' })
      .ended;
    const [path = "", there] = out.split("\n");
    expect(there).toBe("there");
    expect(existsSync(path)).toBe(false);
  });

  test("ends the agent when it is asked to end", async () => {
    const { child, ended, home } = launch(["codex", ...at(serve().port)], {
      script: "trap 'echo ended; exit 3' TERM; touch $HOME/ready; while :; do sleep 0.05; done",
    });
    while (!existsSync(join(home, "ready"))) await Bun.sleep(10);
    child.kill("SIGTERM");
    const { code, out } = await ended;
    expect([code, out]).toEqual([3, "ended\n"]);
  });

  test("starts a server for the run when none is listening and a model is named", async () => {
    const port = await freePort();
    const model = join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf");
    const script = `curl -s http://127.0.0.1:${port}/health; echo; printf "%s\\n" "$@" | grep '^model='`;
    const run = launch(["codex", ...at(port), "--model", model, "--threads", "1"], { script });
    const { code, out } = await run.ended;
    expect(code).toBe(0);
    expect(out).toContain('"status":"healthy"');
    expect(out).toContain('model="svc-mini-q8_0"');
    expect(readFileSync(join(run.home, ".local/share/svc/launch.log"), "utf8")).toContain(
      "route=/v1/models status=200",
    );
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
  });

  test("leaves batches of other servers alone", async () => {
    const dataDir = temporaryFolder();
    const before = on(dataDir, { steps: [{ wait: never }] });
    const { id } = await create(before, [lineOf(0, { model: "up/far", messages })]);
    await untilStatus(before, id, "in_progress");
    await before.stop();
    const far = chatServer(helloStream);
    const flags = ["--no-model", "--upstream", `up=${far.url}`, "--data-dir", dataDir];
    const { code } = await launch(["codex", ...at(await freePort()), ...flags], { script: "sleep 1" }).ended;
    expect([code, far.asked.some(({ path }) => path === "/v1/chat/completions")]).toEqual([0, false]);
    await untilStatus(on(dataDir), id, "completed");
  });

  test("makes the agent trust the server's certificate in addition to the usual authorities", async () => {
    const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
    const files = { cert: fixture("cert.pem"), key: fixture("key.pem") };
    const tls = readTls(files);
    if (!tls) throw new Error("no certificate");
    const { port } = serve(undefined, { tls });
    const flags = [...at(port), "--tls-cert", files.cert, "--tls-key", files.key];
    const script =
      'curl -s --cacert "${CODEX_CA_CERTIFICATE:-$SSL_CERT_FILE}" $BASE/health; cat "$CODEX_CA_CERTIFICATE"';
    const env = { BASE: `https://localhost:${port}`, SSL_CERT_FILE: fixture("another.pem") };
    const codex = await launch(["codex", ...flags], { script, env }).ended;
    expect([codex.code, codex.err.includes("certificate")]).toEqual([0, false]);
    expect(codex.out).toContain('"status"');
    expect(codex.out).toContain(readFileSync(env.SSL_CERT_FILE, "utf8").trim());
    // Python trusts only this file, which includes the usual authorities.
    const count = 'test "$SSL_CERT_FILE" = "$REQUESTS_CA_BUNDLE" && grep -c BEGIN "$SSL_CERT_FILE"';
    const aider = await launch(["aider", ...flags], { script: count }).ended;
    expect(Number(aider.out)).toBeGreaterThan(50);
  });

  test("reports what to do without a server and a model", async () => {
    const { code, err } = await launch(["codex", ...at(await freePort())], { script: "echo started" }).ended;
    expect(code).toBe(2);
    expect(err).toMatch(
      /No server answers at \S+\. Start one, or name the model: svc launch codex --model MODEL\. Models that/,
    );
  });

  test("reports why a server refuses it", async () => {
    const refusal = {
      error: { message: "This server does not accept the host name in the Host header.", code: "forbidden_host" },
    };
    using server = Bun.serve({ port: 0, fetch: () => Response.json(refusal, { status: 403 }) });
    const { code, out, err } = await launch(["codex", ...at(server.port ?? 0)], { script: "echo started" }).ended;
    expect([code, out, err]).toEqual([1, "", expect.stringContaining(refusal.error.message)]);
  });

  test("reports a log that it cannot write", async () => {
    const data = temporaryFolder();
    const log = join(data, "launch.log");
    mkdirSync(log);
    const flags = [...at(await freePort()), "--model", "model.gguf", "--data-dir", data];
    const { code, out, err } = await launch(["codex", ...flags], { script: "echo started" }).ended;
    const why = `The log ${log} cannot be written: it is a folder. Choose another folder with --data-dir.`;
    expect([code, out, err]).toEqual([1, "", `svc: ${why}\n`]);
  });

  test("reports a temporary folder that is missing", async () => {
    const env = { TMPDIR: "/nowhere" };
    const { code, out, err } = await launch(["codex", ...at(serve().port)], { script: "echo started", env }).ended;
    const why = "A folder in /nowhere cannot be created: there is no such file or folder. Set TMPDIR to another.";
    expect([code, out]).toEqual([1, ""]);
    expect(err).toEndWith(`svc: ${why}\n`);
  });

  test("reports an agent that cannot be started", async () => {
    const { ended, home } = launch(["aider", ...at(serve().port)], { script: "", interpreter: "/nowhere/sh" });
    const { code, err } = await ended;
    expect(code).toBe(1);
    expect(err).toEndWith(`svc: ${join(home, "aider")}: a program cannot be started (ENOENT).\n`);
  });

  test("reports how to install an agent that is missing", async () => {
    const { code, err } = await launch(["opencode", ...at(serve().port)]).ended;
    expect([code, err]).toEqual([1, "svc: opencode is not on the PATH. Install it with: npm install -g opencode-ai\n"]);
  });
});
