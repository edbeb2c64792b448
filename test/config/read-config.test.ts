import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../src/config/environment.ts";
import type { OptionValue } from "../../src/config/option.ts";
import { UsageError } from "../../src/config/parse.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { sharedFolder } from "../support/folders.ts";

const home = sharedFolder();
let file: string;

beforeAll(() => {
  mkdirSync(join(home, "etc"));
  file = join(home, "etc/svc.toml");
  writeFileSync(file, 'port = 3\nmax-queue = 3\nparallel = 3\nmodel = "models/a.gguf"\ncache-dir = "~/cache"\n');
});

const settings = (flags: Record<string, OptionValue> = {}, environment: Environment = {}) =>
  readConfig(new Map(Object.entries(flags)), { HOME: home, ...environment }, "/srv");

describe("precedence", () => {
  test("flags have priority over the environment, the environment over the file, and the file over defaults", () => {
    const config = settings({ port: 1, config: file }, { SVC_PORT: "2", SVC_MAX_QUEUE: "2" });
    expect(config).toMatchObject({ port: 1, maxQueue: 2, parallel: 3, host: "127.0.0.1" });
  });

  test("a list replaces the list of a source with lower priority", () => {
    expect(settings({ stop: ["a"] }, { SVC_STOP: "b,c" }).stop).toEqual(["a"]);
  });

  test("--no-model has priority over the model of a lower source, and a model over its --no-model", () => {
    const path = join(home, "etc/models.toml");
    const read = (text: string, flags: Record<string, OptionValue>, environment: Environment = {}) => {
      writeFileSync(path, text);
      const { serveModel, model, lora } = settings({ config: path, ...flags }, environment);
      return [serveModel, model, lora.length];
    };
    const own = 'model = "/a.gguf"\nlora = ["/b.gguf"]\n';
    expect(read(own, { "no-model": true })).toEqual([false, undefined, 0]);
    expect(read(own, {}, { SVC_NO_MODEL: "1" })).toEqual([false, undefined, 0]);
    expect(read(own, { model: "/c.gguf" }, { SVC_NO_MODEL: "1" })).toEqual([true, "/c.gguf", 1]);
    expect(read("no-model = true\n", { model: "/c.gguf" })).toEqual([true, "/c.gguf", 0]);
    expect(read("no-model = true\n", { "no-model": false })).toEqual([true, undefined, 0]);
    for (const [name, environment] of [
      ["lora", { SVC_LORA: "/b.gguf" }],
      ["worker", { SVC_WORKER: "10.0.0.2" }],
    ] as const)
      expect(() => read("no-model = true\n", {}, environment)).toThrow(
        `--${name} and --no-model contradict each other.`,
      );
    const sentence = "--model and --no-model contradict each other.";
    expect(() => read(`no-model = true\n${own}`, {})).toThrow(sentence);
    expect(() => read("", { "no-model": true, model: "/c.gguf" })).toThrow(sentence);
  });

  test("the file can be named by the environment", () => {
    expect(settings({}, { SVC_CONFIG: file }).port).toBe(3);
  });

  test("a file in the configuration folder is read by default", () => {
    mkdirSync(join(home, ".config/svc"), { recursive: true });
    writeFileSync(join(home, ".config/svc/config.toml"), "port = 4\n");
    expect(settings().port).toBe(4);
    expect(settings({ config: file }).port).toBe(3);
    rmSync(join(home, ".config"), { recursive: true });
    expect(settings().port).toBe(9999);
  });

  test("a file given by name must exist", () => {
    expect(() => settings({ config: "missing.toml" })).toThrow(
      "The config file /srv/missing.toml cannot be read: there is no such file or folder.",
    );
    expect(() => settings({ config: join(file, "below.toml") })).toThrow(
      new UsageError(`The config file ${file}/below.toml cannot be read: a folder of its path is a file.`),
    );
  });
});

describe("paths", () => {
  test("are relative to their source", () => {
    expect(settings({ model: "a.gguf" }).model).toBe("/srv/a.gguf");
    expect(settings({}, { SVC_MODEL: "b/c.gguf" }).model).toBe("/srv/b/c.gguf");
    expect(settings({ config: file })).toMatchObject({
      model: join(home, "etc/models/a.gguf"),
      cacheDir: join(home, "cache"),
    });
  });

  test("without a model the embedded one is used", () => {
    expect(settings().model).toBeUndefined();
  });
});

describe("values", () => {
  test("durations are seconds, and the stall budget is milliseconds", () => {
    const config = settings({ heartbeat: 0.5, "drain-timeout": 3, "load-timeout": 60, "stall-budget": 20 });
    expect(config).toMatchObject({ heartbeatMs: 500, drainTimeoutMs: 3000, loadTimeoutMs: 60_000, stallBudgetMs: 20 });
  });

  test("models loaded on first use stay loaded for some minutes without a request, by default five", () => {
    expect(settings().idleUnloadMs).toBe(300_000);
    expect(settings({ "idle-unload": 0.5 }).idleUnloadMs).toBe(30_000);
    expect(settings({}, { SVC_IDLE_UNLOAD: "0" }).idleUnloadMs).toBe(0);
    for (const wrong of ["-1", "100001"]) {
      expect(() => settings({}, { SVC_IDLE_UNLOAD: wrong })).toThrow(
        "SVC_IDLE_UNLOAD must be a number from 0 to 35000",
      );
    }
  });

  test("an IPv6 address to listen on may have the brackets of a URL", () => {
    expect(settings({ host: "[::1]" }).host).toBe("::1");
    expect(settings({}, { SVC_HOST: "[::]" }).host).toBe("::");
  });

  test("bits name the number format of the cache", () => {
    expect(settings({ "kv-type": "8" }).kvType).toBe("q8_0");
    expect(settings({ "kv-type": "4" }).kvType).toBe("q4_0");
    expect(settings({ "kv-type": "bf16" }).kvType).toBe("bf16");
  });

  test("sampling contains only given values, so that the model file's defaults apply", () => {
    expect(settings().sampling).toEqual({});
    expect(settings({ temperature: 0, "top-k": 5 }).sampling).toEqual({ temperature: 0, topK: 5 });
  });

  test("a schema for answers is checked at startup, and the error names the place in it", () => {
    const schema = { type: "object", properties: { city: { type: "string" } } };
    expect(settings({ "guided-json": schema }).guidedJson).toEqual(schema);
    expect(settings({}, { SVC_GUIDED_JSON: JSON.stringify(schema) }).guidedJson).toEqual(schema);
    expect(settings().guidedJson).toBeUndefined();
    for (const wrong of [{ type: "nonsense" }, { $ref: "#/nowhere" }, { properties: { city: { type: 5 } } }]) {
      expect(() => settings({ "guided-json": wrong })).toThrow(UsageError);
    }
    expect(() => settings({ "guided-json": { properties: { city: { type: 5 } } } })).toThrow(
      "'--guided-json' is not a usable JSON schema at '/properties/city/type': ",
    );
  });

  test("a micro-batch never exceeds the batch", () => {
    expect(settings({ batch: 64, "micro-batch": 512 }).microBatch).toBe(64);
  });

  test("a quantized KV cache without flash attention is refused", () => {
    for (const type of ["q4_0", "q8_0"]) {
      expect(() => settings({ "kv-type": type, "flash-attention": "off" })).toThrow(
        `--kv-type ${type} needs flash attention: --flash-attention must not be off.`,
      );
      expect(settings({ "kv-type": type }).kvType).toBe(type as "q4_0");
    }
    expect(settings({ "flash-attention": "off" }).kvType).toBe("f16");
  });

  test("--verbose and --quiet set the log level", () => {
    expect(settings({ verbose: true, "log-level": "error" }).logLevel).toBe("verbose");
    expect(settings({ verbose: true }, { SVC_LOG_LEVEL: "error" }).logLevel).toBe("verbose");
    expect(settings({}, { SVC_VERBOSE: "1" }).logLevel).toBe("verbose");
    expect(settings({ quiet: true }).logLevel).toBe("warn");
    expect(settings({ quiet: true }, { SVC_VERBOSE: "1" }).logLevel).toBe("warn");
    expect(settings({ verbose: true }, { SVC_QUIET: "1" }).logLevel).toBe("verbose");
    expect(() => settings({ quiet: true, verbose: true })).toThrow("--verbose and --quiet contradict each other.");
  });

  test("--verbose has the priority of its source", () => {
    expect(settings({ "log-level": "error" }, { SVC_VERBOSE: "1" }).logLevel).toBe("error");
    expect(settings({ verbose: false }, { SVC_VERBOSE: "1" }).logLevel).toBe("info");
    const loud = join(home, "etc/loud.toml");
    writeFileSync(loud, "verbose = true\n");
    expect(settings({ config: loud }, { SVC_LOG_LEVEL: "warn" }).logLevel).toBe("warn");
    expect(settings({ config: loud }).logLevel).toBe("verbose");
  });

  test("a prompt and instructions are for single answers", () => {
    expect(settings({ prompt: "Hi", instructions: "Be brief." })).toMatchObject({
      prompt: "Hi",
      instructions: "Be brief.",
    });
    expect(settings().prompt).toBeUndefined();
  });
});

test("template values decide about reasoning with true or false, not with a text that would be ignored", () => {
  const kwargs = (enable_thinking: unknown) => settings({ "chat-template-kwargs": { enable_thinking } }).templateKwargs;
  expect(kwargs(false)).toEqual({ enable_thinking: false });
  for (const wrong of ["false", 0]) expect(() => kwargs(wrong)).toThrow("must be true or false");
});

test("limits of API keys without keys are an error of a server only, as a config file may be read without them", () => {
  expect(settings({ "key-rpm": 1, "key-concurrent": 1 })).toMatchObject({ keyRpm: 1, keyConcurrent: 1 });
  expect(settings({ "key-rpm": 5, "key-concurrent": 2, "api-key": ["k"] })).toMatchObject({
    keyRpm: 5,
    keyConcurrent: 2,
  });
});

describe("models", () => {
  test.each(["owner/repo", "owner/repo:Q4_K_M", "owner/repo:a.gguf", "tiny"])(
    "%s is a name when there is no such file",
    (name) => {
      expect(settings({ model: name }).model).toBe(name);
    },
  );

  test.each(["tiny.gguf", "models/tiny.gguf", "./tiny", "../tiny", "a/b/c"])("%s is a path", (path) => {
    expect(settings({ model: path }).model).toBe(join("/srv", path));
  });

  test("a file has priority over a name, and ~ and / begin paths", () => {
    writeFileSync(join(home, "tiny"), "");
    const config = readConfig(new Map([["model", "tiny"]]), { HOME: home }, home);
    expect(config.model).toBe(join(home, "tiny"));
    expect(settings({ model: "~/x" }).model).toBe(join(home, "x"));
    expect(settings({ model: "/x" }).model).toBe("/x");
  });

  test("are in the data folder by default", () => {
    expect(settings().modelsDir).toBe(join(home, ".local/share/svc/models"));
    expect(settings({ "data-dir": "/d" }).modelsDir).toBe("/d/models");
    expect(settings({ "data-dir": "/d" }, { SVC_MODELS_DIR: "/m" }).modelsDir).toBe("/m");
  });
});

describe("is checked at startup:", () => {
  const failure = (flags: Record<string, OptionValue>) => {
    try {
      settings(flags);
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
    return undefined;
  };

  test.each(["media-root", "piper-voices", "ocr-data"])("--%s must be an existing folder", (name) => {
    expect(failure({ [name]: join(home, "missing") })).toBe(`--${name}: there is no folder ${home}/missing.`);
    expect(failure({ [name]: file })).toBe(`--${name}: ${file} is not a folder.`);
    expect(failure({ [name]: home })).toBeUndefined();
  });

  test.each(["data-dir", "models-dir"])("--%s may be missing, but must not be a file or inside one", (name) => {
    expect(failure({ [name]: join(home, "missing/too") })).toBeUndefined();
    expect(failure({ [name]: file })).toBe(`--${name}: ${file} is not a folder.`);
    expect(failure({ [name]: join(file, "models") })).toBe(`--${name}: ${file} is not a folder.`);
  });

  test("origins have the form that browsers send", () => {
    const given = [
      "https://App.example/",
      "http://10.0.0.7:3000",
      "https://app.example:443",
      "chrome-extension://abc",
      "*",
    ];
    expect(settings({ "cors-origin": given }).corsOrigins).toEqual([
      "https://app.example",
      "http://10.0.0.7:3000",
      "https://app.example",
      "chrome-extension://abc",
      "*",
    ]);
  });

  test.each([
    "app.example",
    "https://app.example/page",
    "https://*.app.example",
    "https://",
    "https://a@b",
    "app.example:80",
  ])("--cors-origin %s is refused", (origin) => {
    expect(failure({ "cors-origin": [origin] })).toBe(
      `--cors-origin must be a scheme and a host, as https://app.example or http://10.0.0.7:3000, or *, not "${origin}".`,
    );
  });

  test("hosts are names only", () => {
    const names = ["svc.lan", "svc", "xn--bcher-kva.example", "10.0.0.7", "::1"];
    expect(settings({ "allowed-host": names }).allowedHosts).toEqual(names);
    for (const wrong of ["https://svc.lan", "svc.lan:9999", "svc.lan/", "*", ".svc.lan"]) {
      expect(failure({ "allowed-host": [wrong] })).toBe(
        `--allowed-host must be a host name without scheme, port and path, as svc.lan, not "${wrong}".`,
      );
    }
  });

  test.skipIf(process.platform === "win32")("a named pipe as config file is refused instead of read", () => {
    const pipe = join(home, "pipe.toml");
    Bun.spawnSync(["mkfifo", pipe]);
    expect(failure({ config: pipe })).toContain(`The config file ${pipe} is a named pipe`);
  });
});
