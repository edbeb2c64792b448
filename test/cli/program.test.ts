// The program as its own process: exit codes, what it says, and when it serves instead of answering.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, existsSync, openSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeAdapter, type AdapterChanges } from "../models/make-adapter.ts";
import { sharedFolder } from "../support/folders.ts";
import { freePort } from "../support/free-port.ts";
import { ownEnvironment } from "../support/own-environment.ts";
import { runSvc, runToEnd } from "../support/program.ts";
import { PROGRAM } from "../support/server.ts";

setDefaultTimeout(60_000);

const MODEL = join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf");
const QUESTION = "What is the capital of France?";

const home = sharedFolder();

/** A number is a descriptor. */
type Input = "ignore" | Blob | number;

const start = (args: readonly string[], stdin: Input | "pipe" = "ignore") =>
  Bun.spawn([...PROGRAM, ...args], {
    env: ownEnvironment({ HOME: home }),
    stdin,
    stdout: "pipe",
    stderr: "pipe",
  });

const finish = (args: readonly string[], stdin?: Input, env = {}) =>
  runSvc(args, { stdin, env: ownEnvironment({ HOME: home, ...env }) });

/** A pipe that says nothing and never ends, because it is open for writing too. */
function openSilentPipe(): number {
  const path = join(home, `pipe-${crypto.randomUUID()}`);
  Bun.spawnSync(["mkfifo", path]);
  return openSync(path, "r+");
}

/** Waits until the server answers, stops it, and returns what it wrote. Fails when it ended by itself. */
async function serveAndStop(child: ReturnType<typeof start>, port: number) {
  const err = child.stderr.text();
  for (;;) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${await err}`);
    const health = await fetch(`http://127.0.0.1:${port}/health`).then(
      (response) => response.json() as Promise<{ status: string }>,
      () => undefined, // not listening yet
    );
    if (health?.status === "healthy") break;
    await Bun.sleep(20);
  }
  child.kill("SIGTERM");
  return { code: await child.exited, err: await err };
}

describe("information and mistakes", () => {
  test.each(["--host 0.0.0.0 --require-auth", "--host 0.0.0.0 --require-auth --no-model"])(
    "%s without a key is a wrong use",
    async (args) => {
      const { code, err } = await finish(["serve", "--port", "0", ...args.split(" ")]);
      expect([code, err]).toEqual([2, expect.stringContaining("so --api-key-file is required")]);
    },
  );

  test("limits of API keys without a key are a wrong use of a server, and no matter of other commands", async () => {
    const limits = { SVC_KEY_RPM: "60" };
    const { code, err } = await finish(["serve", "--port", "0", "--no-model"], "ignore", limits);
    expect([code, err]).toEqual([2, expect.stringContaining("define keys with --api-key-file")]);
    expect(await finish(["list"], "ignore", limits)).toMatchObject({ code: 0, err: "" });
  });

  test.each([
    ["--alias", "mine,svc-system", "svc-system"],
    ["--alias", "tesseract", "tesseract"],
    ["--lora", "svc-system=missing.gguf", "svc-system"],
    ["--lora", "second=missing.gguf", "second"],
  ])("%s %s is refused, because the name selects another model", async (option, value, name) => {
    const adapter = join(home, "named.gguf");
    writeAdapter(adapter, 1);
    const given = ["--alias", "first,second", option, value.replace("missing.gguf", adapter)];
    const { code, err } = await finish(["serve", "--port", "0", ...given.slice(option === "--lora" ? 0 : 2)]);
    expect([code, err]).toEqual([2, expect.stringContaining(`${option} cannot give the name ${name}:`)]);
  });

  test("--help and --help-json go to standard output", async () => {
    const help = await finish(["--help"]);
    expect(help).toMatchObject({ code: 0, err: "", out: expect.stringContaining("--help-all") });
    const all = await finish(["--help-all"]);
    expect(all).toMatchObject({ code: 0, err: "", out: expect.stringContaining("--max-queue") });
    const json = await finish(["--help-json"]);
    expect(json).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse(json.out)).toHaveProperty("options");
  });

  test("--version", async () => {
    const { code, out } = await finish(["--version"]);
    expect(out).toMatch(/^svc \d+\.\d+\.\d+ \(\w+\)\n$/);
    expect(code).toBe(0);
  });

  test("a misspelt variable is reported, and the program does its work", async () => {
    const { code, err } = await finish(["list", "--json"], "ignore", { SVC_MODEL_DIR: "/models" });
    expect([code, err]).toEqual([0, "svc: SVC_MODEL_DIR has no effect. Did you mean SVC_MODELS_DIR?\n"]);
  });

  test.each([
    [["--bogus"], 2, "svc: Unknown option --bogus. Try svc --help.\n"],
    [
      ["--config", "/nowhere.toml"],
      2,
      "svc: The config file /nowhere.toml cannot be read: there is no such file or folder. Try svc --help.\n",
    ],
    [["-s", "-"], 2, "svc: Standard input has no prompt. Try svc --help.\n"],
    [["rm"], 2, "svc: svc rm needs the name of a model, as svc list shows it. Try svc rm --help.\n"],
  ])("%j ends with %i", async (args, code, err) => {
    expect(await finish(args)).toEqual({ code, err, out: "" });
  });

  test("a question in place of a file is told how to ask it", async () => {
    const { code, err } = await finish(["What is the capital of France?"]);
    expect([code, err]).toEqual([3, expect.stringContaining('France?. svc -s "TEXT" asks the model something.')]);
    for (const name of ["two words.gguf", "my vae.safetensors"]) {
      expect((await finish([join(home, name)])).err).not.toContain("svc -s");
    }
  });

  test("a file that is no model ends with 3 and one sentence", async () => {
    const file = join(home, "notes.gguf");
    writeFileSync(file, "these are notes, not weights");
    const { code, err } = await finish(["--model", file]);
    expect(code).toBe(3);
    expect(err).toMatch(/^svc: .*notes\.gguf.*\n$/);
  });

  test("a chat template that is no Jinja is a wrong use, and not blamed on the model", async () => {
    const { code, err } = await finish(["serve", "--port", "0", "--chat-template", "{{nope"]);
    expect([code, err]).toEqual([2, expect.stringMatching(/^svc: --chat-template: .*Expected }}.*\n$/)]);
  });

  test("in JSON logs a failure is JSON too", async () => {
    const { code, err } = await finish(["--model", join(home, "missing.gguf"), "--log-format", "json"]);
    expect(code).toBe(3);
    expect(JSON.parse(err)).toMatchObject({ level: "error", message: expect.stringContaining("missing.gguf") });
  });
});

describe("an adapter that cannot be used ends with 3 and one sentence", () => {
  const refused = async (path: string) => {
    const { code, err } = await finish(["--lora", path, "--port", String(await freePort()), "--log-format", "json"]);
    expect(code).toBe(3);
    // Before the last line, the engine may have told about it.
    return (JSON.parse(err.trim().split("\n").at(-1) ?? "") as { message: string }).message;
  };
  const written = (name: string, changes?: AdapterChanges) => {
    const path = join(home, name);
    writeAdapter(path, 1, changes);
    return path;
  };
  const text = (key: string, value: string) => ({ metadata: { [key]: { type: "string", value } as const } });

  test("when it is not there, damaged or no adapter", async () => {
    const missing = join(home, "missing.gguf");
    expect(await refused(missing)).toBe(`There is no file ${missing}.`);
    const cut = written("cut.gguf");
    truncateSync(cut, statSync(cut).size - 5000);
    expect(await refused(cut)).toContain("cut.gguf is incomplete");
    truncateSync(cut, 100);
    expect(await refused(cut)).toContain("cut.gguf has an incomplete or corrupt header");
    expect(await refused(MODEL)).toBe("svc-mini-q8_0.gguf is not a LoRA adapter.");
  });

  test("when it is for another model, or of another kind", async () => {
    expect(await refused(written("other.gguf", text("general.architecture", "llama")))).toBe(
      "other.gguf is for models of the architecture llama; the model's is qwen3.",
    );
    expect(await refused(written("kind.gguf", text("adapter.type", "control")))).toContain("another type than LoRA");
    const activated = { metadata: { "adapter.alora.invocation_tokens": { type: "i32s", value: [1] } as const } };
    expect(await refused(written("activated.gguf", activated))).toContain("activated LoRA");
  });

  test("when its tensors do not fit the model's", async () => {
    const path = written("wide.gguf", { width: 320 });
    const message = await refused(path);
    expect(message).toContain(`cannot use the adapter ${path}`);
    expect(message).toContain("incorrect shape");
  });
});

describe("serving", () => {
  test("a busy port ends with 4 and leaves the first server alone", async () => {
    const port = await freePort();
    using blocker = Bun.serve({ hostname: "127.0.0.1", port, fetch: () => new Response("mine") });
    const trace = join(home, "trace.json");
    writeFileSync(trace, "of the first server");
    const { code, err } = await finish(["--port", String(port), "--trace-file", trace]);
    expect(code).toBe(4);
    expect(readFileSync(trace, "utf8")).toBe("of the first server");
    expect(err).toContain(
      `svc: Port ${port} on 127.0.0.1 is in use by another program. Choose another port with --port`,
    );
    expect(await (await fetch(blocker.url)).text()).toBe("mine");
  });

  test("the banner tells what answers and where, and SIGTERM ends an idle server however long it might drain", async () => {
    const port = await freePort();
    const args = ["--port", String(port), "--ctx", "512", "--drain-timeout", "86400"];
    const { code, err } = await serveAndStop(start(args), port);
    expect(code).toBe(0);
    expect(err).toContain("svc-mini");
    expect(err).toContain("512 tokens");
    expect(err).toContain(`curl http://127.0.0.1:${port}/v1/chat/completions`);
  });

  test("with JSON logs every line on standard error is JSON", async () => {
    const port = await freePort();
    const args = ["--port", String(port), "--log-format", "json", "--host", "0.0.0.0"];
    const { err } = await serveAndStop(start(args), port);
    const lines = err
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { message: string });
    expect(lines).toContainEqual(expect.objectContaining({ message: "ready", model: "svc-mini" }));
    expect(lines).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("no API key is required") }),
    );
  });

  test.skipIf(process.platform !== "linux")(
    "a data folder that cannot be used is told at the start, and none is created before it is used",
    async () => {
      const serve = async (dataDir: string) => {
        const port = await freePort();
        return (await serveAndStop(start(["--port", String(port), "--ctx", "512", "--data-dir", dataDir]), port)).err;
      };
      expect(await serve("/proc/x")).toContain("files and batches cannot be stored in /proc/x (--data-dir): ");
      expect(await serve(join(home, "unused", "data"))).not.toContain("cannot be stored");
      expect(existsSync(join(home, "unused"))).toBe(false);
    },
  );

  test("options without effect are reported by a server, and by nothing else", async () => {
    const port = await freePort();
    const idle = ["-i", "Be brief.", "--gateway-port", "1"];
    const config = join(home, `${port}.toml`);
    writeFileSync(config, 'prompt = "Hi"\n');
    const args = ["serve", "--port", String(port), "--no-model", "--config", config];
    const { err } = await serveAndStop(start([...args, ...idle]), port);
    expect(err).toStartWith(
      "svc: --prompt has no effect on a server.\nsvc: --instructions has no effect without a prompt (-s).\nsvc: --gateway-port has no effect without --gateway.\n",
    );
    expect(await finish(["list", "--json", ...idle])).toMatchObject({ code: 0, err: "" });
  });

  test.each<[string, Input | "pipe", string[]]>([
    ["a socket", "pipe", []],
    ["an empty input", new Blob([]), []],
    ["blank input", new Blob([" \n"]), []],
    ["text, when `serve` says so", new Blob([QUESTION]), ["serve"]],
  ])("%s on standard input serves", async (_, stdin, args) => {
    const port = await freePort();
    // Through a file, because --port would already mean serving.
    const config = join(home, `${port}.toml`);
    writeFileSync(config, `port = ${port}\nno-model = true\n`);
    expect((await serveAndStop(start([...args, "--config", config], stdin), port)).code).toBe(0);
  });
});

test("a silent pipe that stays open on standard input serves", async () => {
  const port = await freePort();
  const config = join(home, `${port}.toml`);
  writeFileSync(config, `port = ${port}\nno-model = true\n`);
  const pipe = openSilentPipe();
  expect((await serveAndStop(start(["--config", config], pipe), port)).code).toBe(0);
  closeSync(pipe);
});

describe("scripts", () => {
  test("find a server's address in --ready-file while it is ready, and svc wait waits for it", async () => {
    const file = join(home, "ready");
    writeFileSync(file, "what a killed server left");
    const child = start(["serve", "--port", "0", "--ready-file", file]);
    const isReady = () => existsSync(file) && readFileSync(file, "utf8").startsWith("http");
    while (!isReady() && child.exitCode === null) await Bun.sleep(20);
    const url = readFileSync(file, "utf8").trim();
    const health = (await (await fetch(`${url}/health`)).json()) as { status: string };
    expect(health.status).toBe("healthy");
    const waited = await finish(["wait", "--port", new URL(url).port]);
    expect(waited).toEqual({ code: 0, out: `${url}\n`, err: "" });
    // Another that gets no further than the port leaves the file alone.
    const second = await finish(["serve", "--port", new URL(url).port, "--ready-file", file]);
    expect([second.code, readFileSync(file, "utf8").trim()]).toEqual([4, url]);
    expect(second.err).toContain(`svc already runs at ${url}. Choose another port with --port`);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(existsSync(file)).toBeFalse();
  });

  test("are told at once by svc wait that --port 0 is no server's", async () => {
    expect(await finish(["wait", "--port", "0"])).toMatchObject({ code: 2, err: expect.stringContaining("--port 0") });
  });

  test("hear from svc wait when there is no server", async () => {
    const port = await freePort();
    const { code, out, err } = await finish(["wait", "--timeout", "0.3", "--port", String(port)]);
    expect([code, out, err]).toEqual([1, "", `svc: No svc answers at http://127.0.0.1:${port} after 0.3 s.\n`]);
    expect((await finish(["wait", "--timeout", "soon"])).code).toBe(2);
  });

  test("hear before a model is loaded that --ready-file cannot be written", async () => {
    const { code, err } = await finish(["serve", "--port", "0", "--ready-file", join(home, "missing", "ready")]);
    expect([code, err]).toEqual([1, expect.stringContaining("cannot be written: there is no such file or folder")]);
  });
});

describe("one answer", () => {
  const greedy = ["-t", "0", "--max-tokens", "16"];

  test("-s with --guided-json follows the schema", async () => {
    const schema = '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}';
    const { code, out } = await finish(["-s", QUESTION, "--guided-json", schema, "-t", "0"]);
    expect([code, JSON.parse(out)]).toEqual([0, { city: expect.any(String) }]);
  });

  test.each<[string, Input, string[]]>([
    ["-s", "ignore", ["-s", QUESTION]],
    ["-s -", new Blob([QUESTION]), ["-s", "-"]],
    ["a file on standard input", new Blob([QUESTION]), []],
    ["-s beside a file on standard input", new Blob([QUESTION]), ["-s", "Answer this:"]],
    ["-s --no-streaming", "ignore", ["-s", QUESTION, "--no-streaming"]],
  ])("%s prints the answer alone", async (_, stdin, args) => {
    const { code, out } = await finish([...args, ...greedy], stdin);
    expect(out).toMatch(/^[^\n]*Paris[^\n]*\n$/);
    expect(code).toBe(0);
  });

  test("the config file of a server may name models that are gone, and its trace stays", async () => {
    const [config, trace] = [join(home, "server.toml"), join(home, "server-trace.json")];
    const models = ["chat-model", "embedding-model"].map((kind) => `${kind} = ["gone.gguf"]\n`);
    writeFileSync(config, `trace-file = ${JSON.stringify(trace)}\n${models.join("")}`);
    writeFileSync(trace, "of the server");
    const { code, out } = await finish(["-s", QUESTION, "--config", config, ...greedy]);
    expect([code, out]).toEqual([0, expect.stringContaining("Paris")]);
    expect(readFileSync(trace, "utf8")).toBe("of the server");
    await finish(["-s", QUESTION, "--config", config, "--trace-file", trace, ...greedy]);
    expect(readFileSync(trace, "utf8")).toStartWith("[");
  });

  test("an answer that was cut says so, and at which limit", async () => {
    const cut = async (...args: readonly string[]) => (await finish(["-s", QUESTION, "-t", "0", ...args])).err;
    const thinks = ["--chat-template-kwargs", '{"enable_thinking":true}'];
    expect(await cut("-n", "2")).toBe("svc: The answer was cut at --max-tokens.\n");
    const long = ["-s", `${QUESTION}${" word".repeat(230)}`, "--ctx", "256", "-n", "9999"];
    expect(await cut(...long, "--no-streaming")).toBe("svc: The answer was cut at the end of the context (--ctx).\n");
    expect(await cut("-n", "4", ...thinks)).toBe(
      "svc: The answer was cut at --max-tokens while the model was thinking; with --no-think, it answers at once.\n",
    );
    expect(await cut("-n", "2", "-q", "--log-format", "json")).toStartWith('{"');
  });

  test.skipIf(process.platform === "win32")("a terminal shows how far a model is that thinks first", async () => {
    let shown = "";
    const decoder = new TextDecoder();
    const data = (_: unknown, bytes: Uint8Array) => void (shown += decoder.decode(bytes, { stream: true }));
    const args = ["-s", QUESTION, "-t", "0", "--chat-template-kwargs", '{"enable_thinking":true}'];
    const env = ownEnvironment({ HOME: home, TERM: "xterm" });
    const child = Bun.spawn([...PROGRAM, ...args], { env, terminal: { cols: 80, rows: 24, data } });
    expect(await child.exited).toBe(0);
    child.terminal?.close();
    expect(shown).toMatch(/thinking +\d+ tokens.*Paris/s);
  });

  test("--json prints the whole chat completion", async () => {
    const { code, out } = await finish(["-s", QUESTION, "--json", ...greedy, "--api-key", "unneeded"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^[^\n]+\n$/);
    const completion = JSON.parse(out) as { choices: { message: { content: string } }[] };
    expect(completion).toMatchObject({ object: "chat.completion", usage: { completion_tokens: expect.any(Number) } });
    expect(completion.choices[0]?.message.content).toContain("Paris");
  });

  test("--json without a prompt is a wrong use", async () => {
    expect((await finish(["serve", "--json", "--port", "0"])).code).toBe(2);
    expect((await finish(["--json", "--port", "0"])).code).toBe(2);
  });

  test("text in a pipe is the prompt", async () => {
    const piped = ["sh", "-c", 'printf %s "$0" | "$@"', QUESTION, ...PROGRAM, ...greedy];
    const ended = await runToEnd(piped, { env: ownEnvironment({ HOME: home, PATH: "/usr/bin:/bin" }) });
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining("Paris") });
  });

  test("text that comes late through a pipe is part of the prompt", async () => {
    const script = '(sleep 1; printf %s "$0") | "$@"';
    const piped = ["sh", "-c", script, QUESTION, ...PROGRAM, "-s", "Answer this:", ...greedy];
    const ended = await runToEnd(piped, { env: ownEnvironment({ HOME: home, PATH: "/usr/bin:/bin" }) });
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining("Paris"), err: "" });
  });

  test("text that a program writes into a socket is part of the prompt", async () => {
    const env = ownEnvironment({ HOME: home });
    const command = [...PROGRAM, "-s", "Answer this:", ...greedy];
    const child = Bun.spawn(command, { env, stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    child.stdin.write(QUESTION);
    await child.stdin.end();
    expect([await child.exited, await child.stdout.text()]).toEqual([0, expect.stringContaining("Paris")]);
  });

  test("a pipe that stays silent is reported, and the prompt of -s answered without it", async () => {
    const pipe = openSilentPipe();
    const { code, out, err } = await finish(["-s", QUESTION, ...greedy], pipe);
    closeSync(pipe);
    expect([code, out]).toEqual([0, expect.stringContaining("Paris")]);
    expect(err).toStartWith(
      "svc: No text arrived through the pipe on standard input for 5 s, so svc answers the prompt without",
    );
  });

  test.skipIf(!existsSync("/dev/full"))("what cannot be written is told in one sentence", async () => {
    const full = openSync("/dev/full", "w");
    const told = async (args: readonly string[]) => {
      const child = Bun.spawn([...PROGRAM, ...args], {
        env: ownEnvironment({ HOME: home }),
        stdin: "ignore",
        stdout: full,
        stderr: "pipe",
      });
      return [await child.exited, await child.stderr.text()];
    };
    const sentence = "svc: Standard output cannot be written: the disk is full.\n";
    for (const args of [["-s", QUESTION], ["--help"], ["list"]]) {
      expect([args, ...(await told(args))]).toEqual([args, 1, sentence]);
    }
    closeSync(full);
  });

  describe("that is long", () => {
    const schema = '{"type":"array","items":{"type":"integer"},"minItems":500}';
    /** Has begun. */
    const begun = async () => {
      const child = start(["-s", QUESTION, "--guided-json", schema]);
      await child.stdout.getReader().read();
      return child;
    };
    const ended = async (child: ReturnType<typeof start>) => [await child.exited, await child.stderr.text()];

    test("is ended by an interrupt, with 130 and without a word", async () => {
      const child = await begun();
      child.kill("SIGINT");
      expect(await ended(child)).toEqual([130, ""]);
    });

    test("ends with 1 and a sentence when it breaks off", async () => {
      const child = await begun();
      Bun.spawnSync(["pkill", "-KILL", "-P", String(child.pid)]);
      const [code, err] = await ended(child);
      expect(code).toBe(1);
      expect(err).toEndWith("svc: The model engine was killed by signal SIGKILL while computing this request.\n");
    });
  });

  test("a prompt that does not fit the context ends with 1 and says so", async () => {
    const { code, out, err } = await finish(["-s", "many words ".repeat(2000), "--ctx", "256"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("svc: ");
    expect(err).toContain("256");
    expect(err).not.toContain("many words");
  });
});
