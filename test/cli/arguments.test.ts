import { describe, expect, test } from "bun:test";
import { readConfig } from "../../src/config/read-config.ts";
import { parseArguments } from "../../src/cli/arguments.ts";
import { UsageError } from "../../src/config/parse.ts";

const values = (...args: string[]) => Object.fromEntries(parseArguments(args).values);
const actionOf = (...args: string[]) => parseArguments(args).action;

describe("spellings", () => {
  test.each([
    [["--port", "8080"], { port: 8080 }],
    [["--port=8080"], { port: 8080 }],
    [["-p", "8080"], { port: 8080 }],
    [["-p8080"], { port: 8080 }],
    [["-p=8080"], { port: 8080 }],
    [["--port", "1", "--port", "2"], { port: 2 }],
    [["-m", "a.gguf", "--model", "a.gguf"], { model: "a.gguf" }],
    [["--no-streaming"], { streaming: false }],
    [["--streaming=false"], { streaming: false }],
    [["--mlock"], { mlock: true }],
    [["--hostname", "::1"], { host: "::1" }],
    [["--concurrent", "4"], { parallel: 4 }],
    [["--kv-bits", "8"], { "kv-type": "8" }],
    [
      ["-H", "0.0.0.0", "-t", "0", "-i", "Be brief.", "-s", "Hi"],
      {
        host: "0.0.0.0",
        temperature: 0,
        instructions: "Be brief.",
        prompt: "Hi",
      },
    ],
    [["--presence-penalty", "-1"], { "presence-penalty": -1 }],
    [["-s", "-"], { prompt: "-" }],
    [["-s", "--is this a prompt?"], { prompt: "--is this a prompt?" }],
    [["--stop", "a,b", "--stop", '["c,d"]'], { stop: ["a", "b", "c,d"] }],
    [["model.gguf"], { model: "model.gguf" }],
    [["--port", "1", "--", "--odd-name.gguf"], { port: 1, model: "--odd-name.gguf" }],
    [["serve", "model.gguf"], { model: "model.gguf" }],
    [[], {}],
  ])("%j", (args, expected) => {
    expect(values(...args)).toEqual(expected);
  });
});

describe("actions", () => {
  test("help, version and self-test are recognized anywhere", () => {
    expect(actionOf("--port", "1", "--help")).toBe("help");
    expect(actionOf("-h")).toBe("help");
    expect(actionOf("--help-json")).toBe("help-json");
    expect(actionOf("--version")).toBe("version");
    expect(actionOf("self-test", "-m", "a.gguf")).toBe("self-test");
    expect(parseArguments(["self-test", "--help"])).toMatchObject({ action: "help", command: "self-test" });
    expect(parseArguments(["help", "pull"])).toMatchObject({ action: "help", command: "pull", operands: [] });
    expect(actionOf("--help-all")).toBe("help-all");
    expect(actionOf("a.gguf")).toBe("serve");
  });

  test("help and version are words too, but not among other names", () => {
    expect(["help", "version"].map((word) => parseArguments([word]).action)).toEqual(["help", "version"]);
    expect(parseArguments(["./help"]).values.get("model")).toBe("./help");
    expect(() => parseArguments(["help", "plul"])).toThrow('There is no command "plul". Did you mean svc pull?');
  });

  test("an explicit `serve` is distinguished from serving by default", () => {
    expect(parseArguments(["serve"]).command).toBe("serve");
    expect(parseArguments([]).command).toBeUndefined();
    for (const prompt of ["Hi", "42"]) {
      expect(() => parseArguments(["serve", "-s", prompt])).toThrow("svc serve does not answer a prompt: use svc -s.");
    }
  });
});

test.each(["constructor", "toString", "valueOf"])("%s is a word like any other", (word) => {
  expect(parseArguments(["say", "the", word, "fails"]).operands).toEqual(["the", word, "fails"]);
  expect(parseArguments(["rm", word])).toMatchObject({ action: "rm", operands: [word] });
  expect(values("-s", word)).toEqual({ prompt: word });
  expect(values(word)).toEqual({ model: word });
  expect(() => parseArguments([word, "b.gguf"])).toThrow(UsageError);
});

describe("llama.cpp's names", () => {
  const values = (...args: string[]) => Object.fromEntries(parseArguments(args).values);

  test("a command line of llama-server starts svc", () => {
    const line = "-m a.gguf -ngl 99 --ctx-size 4096 -np 4 -fa on -ub 256 --temp 0.5 -n 50 -ctk q8_0 -a one,two";
    expect(values(...line.split(" "))).toEqual({
      model: "a.gguf",
      "gpu-layers": 99,
      ctx: 4096,
      parallel: 4,
      "flash-attention": "on",
      "micro-batch": 256,
      temperature: 0.5,
      "max-tokens": 50,
      "kv-type": "q8_0",
      alias: ["one", "two"],
    });
  });

  test("a switch may have no value, and on and off may be numbers", () => {
    expect(values("-fa", "-np", "2")).toEqual({ "flash-attention": "on", parallel: 2 });
    expect(values("--flash-attn", "0")).toEqual({ "flash-attention": "off" });
    expect(values("--flash-attn=auto")).toEqual({ "flash-attention": "auto" });
  });

  test("options without effect are accepted with a note, together with their value", () => {
    const { notes, values } = parseArguments(["--jinja", "--cache-reuse", "256", "-cb", "-to", "600", "--port", "1"]);
    expect(Object.fromEntries(values)).toEqual({ port: 1 });
    expect(notes.map((note) => note.split(" ")[0])).toEqual(["--jinja", "--cache-reuse", "-cb", "-to"]);
    expect(parseArguments(["--", "--jinja"]).values.get("model")).toBe("--jinja");
  });

  test("values that mean automatic leave the choice to svc, with a note", () => {
    const line = "-c 0 -n -1 --reasoning-budget -1 --seed=-1 --cache-ram -1 -ngl auto -np -1 --reasoning auto --port 1";
    const { notes, values } = parseArguments(line.split(" "));
    expect(Object.fromEntries(values)).toEqual({ port: 1 });
    expect(notes).toHaveLength(8);
    expect(notes[0]).toBe(
      "-c 0 means svc's default: the trained context, at most 32768 per request, as far as memory allows.",
    );
  });

  test("values that mean automatic take precedence over the environment and the config file", () => {
    const environment = { HOME: "/nonexistent", SVC_CTX: "4096", SVC_MAX_TOKENS: "5", SVC_THREADS: "3" };
    const config = readConfig(parseArguments(["-c", "0", "-n", "-1"]).values, environment, "/");
    expect([config.ctx, config.maxTokens, config.threads]).toEqual([undefined, undefined, 3]);
    expect(readConfig(parseArguments(["-c", "0", "-c", "512"]).values, environment, "/").ctx).toBe(512);
    expect(readConfig(parseArguments(["-c", "512", "-c", "0"]).values, environment, "/").ctx).toBeUndefined();
  });

  test.each([
    ["-hf a/b:Q8_0", { pull: true, model: "a/b:Q8_0" }],
    ["--hf-repo=a/b -hfd a/c", { pull: true, model: "a/b", draft: "a/c" }],
    ["-mu https://a.org/b.gguf", { pull: true, model: "https://a.org/b.gguf" }],
  ])("%s downloads the model", (line, expected) => expect(values(...line.split(" "))).toEqual(expected));

  test("options of other names are translated", () => {
    const line =
      "--ssl-cert-file a.crt --ssl-key-file a.key -j {} --reasoning off --no-cache-prompt --lora-scaled a.gguf:0.5 " +
      "--spec-draft-model b.gguf --spec-draft-n-max 3 --media-path media --sse-ping-interval 30";
    expect(values(...line.split(" "))).toEqual({
      "tls-cert": "a.crt",
      "tls-key": "a.key",
      "guided-json": {},
      think: false,
      "prefix-cache": false,
      lora: ["a.gguf:0.5"],
      draft: "b.gguf",
      "draft-max": 3,
      "media-root": "media",
      heartbeat: 30,
    });
    expect(values("--reasoning", "on", "--think", "--port", "1")).toEqual({ think: true, port: 1 });
  });

  test.each([
    ["-t 4", "-t is the temperature; threads are --threads."],
    ["-s 42", "-s is a prompt to answer once; a seed is --seed."],
    ["--lora a.gguf --lora b.gguf", "--lora without :SCALE applies only to requests that name the adapter."],
  ])("%s is accepted with a note about its meaning in svc", (line, note) => {
    expect(parseArguments(line.split(" ")).notes).toEqual([note]);
  });

  test.each(["-t 0.7", "-t 1", "-s Hello", "--lora a.gguf:1", "--lora name=a.gguf"])("%s needs no note", (line) => {
    expect(parseArguments(line.split(" ")).notes).toEqual([]);
  });
});

describe("mistakes", () => {
  test.each([
    [["--bogus"], "Unknown option --bogus."],
    [["--top"], "Unknown option --top. Did you mean --stop?"],
    [["--port-number", "1"], "Unknown option --port-number. Did you mean --port?"],
    [["--ctx-length", "1"], "Unknown option --ctx-length. Did you mean --ctx-size?"],
    [["--n-gpu-layer", "1"], "Unknown option --n-gpu-layer. Did you mean --n-gpu-layers?"],
    [["--web"], "Unknown option --web."],
    [["--prot", "1"], "Unknown option --prot. Did you mean --port?"],
    [["--no-mmapp"], "Unknown option --no-mmapp. Did you mean --mmap?"],
    [["--no-port"], "Unknown option --no-port. Did you mean --port?"],
    [["-x"], "Unknown option -x."],
    [["-P", "1"], "Unknown option -P. Did you mean -p?"],
    [["-M/models/a.gguf"], "Unknown option -M. Did you mean -m?"],
    [["say", "Hello", "-O", "a.wav"], "Unknown option -O. Did you mean -o?"],
    [["-model", "a.gguf"], "Unknown option -model. Did you mean --model?"],
    [["-port=1"], "Unknown option -port. Did you mean --port?"],
    [["say", "Hello", "-output", "a.wav"], "Unknown option -output. Did you mean --output?"],
    [["-hots", "0.0.0.0"], "Unknown option -hots. Did you mean --host?"],
    [["-help"], "Unknown option -help. Did you mean --help?"],
    [["-Threads", "4"], "Unknown option -Threads. Did you mean --threads?"],
    [["-Version"], "Unknown option -Version. Did you mean --version?"],
    [["-Thraeds", "4"], "Unknown option -Thraeds. Did you mean --threads?"],
    [["-h0.0.0.0"], "-h takes no value. Did you mean -H?"],
    [["-V2"], "-V takes no value."],
    [["--LOG-LEVEL", "debug"], "Unknown option --LOG-LEVEL. Did you mean --log-level?"],
    [["--kv-type", "9"], '--kv-type must be one of f16, q8_0, q4_0, f32, bf16, 8, 4, 16, not "9".'],
    [["--versoin"], "Unknown option --versoin. Did you mean --version?"],
    [
      ["--log-level", "Debig"],
      '--log-level must be one of debug, verbose, info, warn, error, not "Debig". Did you mean debug?',
    ],
    [
      ["--kv-type", "fp16"],
      '--kv-type must be one of f16, q8_0, q4_0, f32, bf16, 8, 4, 16, not "fp16". Did you mean f16?',
    ],
    [["--hf-file", "a.gguf"], "There is no --hf-file: -hf owner/repository:FILE names a file."],
    [["-ag"], "There is no -ag: svc has no equivalent of this option of llama.cpp's server."],
    [["-t", "8"], "-t is the temperature; threads are --threads."],
    [["--port"], "--port needs a value."],
    [["--model", "--port", "1"], "--model needs a value."],
    [["--port", "99999"], '--port must be a whole number from 0 to 65535, not "99999".'],
    [["--hostname", ""], '--hostname must be a non-empty text, not "".'],
    [["a.gguf", "b.gguf"], 'svc serves one model file; "b.gguf" is one argument too many.'],
    [["serve", "tiny", "other"], 'svc serves one model file; "other" is one argument too many.'],
    [["-m", "a.gguf", "b.gguf"], 'The model is given twice: by --model and as "b.gguf".'],
    [["--model", "a.gguf", "--model", "b.gguf"], '--model is given twice: "a.gguf" and "b.gguf".'],
    [["--mmproj", "a.gguf", "--mmproj=b.gguf"], '--mmproj is given twice: "a.gguf" and "b.gguf".'],
    [["plul", "owner/name"], 'There is no command "plul". Did you mean svc pull?'],
    [[""], "The name of the model file is empty."],
    [["run", "llama3.2"], 'There is no command "run". svc -s "TEXT" asks the model something.'],
    [["draw", "--sze", "1"], "Unknown option --sze. Did you mean --size?"],
    [["wait", "--timeuot", "1"], "Unknown option --timeuot. Did you mean --timeout?"],
    [["pull"], "svc pull needs the name of a model, such as Qwen/Qwen3-4B-GGUF."],
    [["list", "tiny"], '"tiny" is one argument too many for svc list.'],
    [["--json", "rm", "tiny"], "svc rm has no --json."],
  ])("%j is refused", (args, message) => {
    let error: unknown;
    try {
      parseArguments(args);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toHaveProperty("message", message);
  });
});

test("--json is accepted for single answers and for some commands", () => {
  for (const args of [
    ["-s", "Hi", "--json"],
    ["--json", "list"],
    ["models", "--json"],
    ["say", "--voices", "--json"],
  ]) {
    expect(parseArguments(args).flags["json"]).toBe(true);
  }
});

describe("commands on recordings and voices", () => {
  test("take files or words, their own options and the server's", () => {
    const files = parseArguments([
      "transcribe",
      "a.wav",
      "-",
      "--format=srt",
      "--threads",
      "2",
      "-o",
      "out",
      "--translate",
    ]);
    expect(files).toMatchObject({ action: "transcribe", operands: ["a.wav", "-"] });
    const behind = parseArguments(["--cache-dir", "c", "transcribe", "a.wav", "--format", "srt"]);
    expect(behind).toMatchObject({ action: "transcribe", operands: ["a.wav"], flags: { format: "srt" } });
    expect(files.flags).toEqual({ format: "srt", output: "out", translate: true });
    expect(Object.fromEntries(files.values)).toEqual({ threads: 2 });
    const words = parseArguments(["say", "--voice", "nova", "--", "-1", "--speed"]);
    expect([words.action, words.operands, words.flags]).toEqual(["say", ["-1", "--speed"], { voice: "nova" }]);
  });

  test("draw has its own short option, which no other command has", () => {
    const words = parseArguments([
      "draw",
      "a",
      "red",
      "circle",
      "-n",
      "2",
      "--size=64x64",
      "-o",
      "a.png",
      "--seed",
      "7",
    ]);
    expect(words).toMatchObject({
      action: "draw",
      operands: ["a", "red", "circle"],
      flags: { count: "2", size: "64x64", output: "a.png", seed: "7" },
    });
    expect(parseArguments(["say", "Hi", "-n", "2"]).flags).toEqual({});
  });

  test("require their operand, and the server does not accept their options", () => {
    expect(() => parseArguments(["transcribe"])).toThrow(UsageError);
    expect(() => parseArguments(["say", "Hi", "--voice"])).toThrow("--voice needs a value.");
    for (const next of ["--speed", "--speed=1.5", "--threads", "--no-mmap", "--help", ""]) {
      expect(() => parseArguments(["say", "Hi", "-o", next])).toThrow("-o needs a value.");
    }
    expect(() => parseArguments(["say", "Hi", "--piper-voices", "-o", "x.wav"])).toThrow(
      "--piper-voices needs a value.",
    );
    expect(() => parseArguments(["-s", "--json"])).toThrow("-s needs a value.");
    expect(() => parseArguments(["worker", "--allow="])).toThrow("--allow needs a value.");
    expect(parseArguments(["say", "Hi", "-o", "-"]).flags).toEqual({ output: "-" });
    expect(parseArguments(["say", "Hi", "--voice", "-5"]).flags).toEqual({ voice: "-5" });
    expect(() => parseArguments(["--voice", "nova"])).toThrow("Unknown option --voice.");
    expect(() => parseArguments(["--seed", "7", "draw", "a"])).toThrow(
      "--seed is an option of draw and must follow it",
    );
    expect(() => parseArguments(["-n3", "draw", "a"])).toThrow("-n is an option of draw and must follow it");
    expect(() => parseArguments(["list", "--json=false"])).toThrow("--json takes no value.");
    for (const spelled of [["-n3"], ["-n=3"], ["-n", "3"], ["--count=3"]]) {
      expect(parseArguments(["draw", "a", ...spelled])).toMatchObject({ flags: { count: "3" } });
    }
    expect(actionOf("transcribe", "--help")).toBe("help");
  });
});
