import { describe, expect, test } from "bun:test";
import { options } from "../../src/config/options.ts";
import {
  misspeltVariables,
  parseConfigFile,
  parseEnvironment,
  parseValue,
  UsageError,
} from "../../src/config/parse.ts";

function read(name: string, given: unknown) {
  const option = options.find((candidate) => candidate.name === name);
  if (!option) throw new Error(`no option ${name}`);
  return parseValue(option, given, `--${name}`);
}

describe("values", () => {
  test.each([
    ["port", "8080", 8080],
    ["port", 8080, 8080],
    ["temperature", "0.5", 0.5],
    ["presence-penalty", "-1.5", -1.5],
    ["mmap", "off", false],
    ["mmap", "YES", true],
    ["mmap", false, false],
    ["flash-attention", "on", "on"],
    ["kv-type", 8, "8"],
    ["stop", "a, b", ["a", "b"]],
    ["stop", '["a, b", "\\n"]', ["a, b", "\n"]],
    ["stop", ["a"], ["a"]],
    ["chat-template-kwargs", '{"a": 1}', { a: 1 }],
    ["chat-template-kwargs", { a: 1 }, { a: 1 }],
  ])("%s %j is read as %j", (name, given, expected) => {
    expect(read(name, given)).toEqual(expected);
  });

  test.each([
    ["port", "70000", '--port must be a whole number from 0 to 65535, not "70000".'],
    ["port", "80.5", '--port must be a whole number from 0 to 65535, not "80.5".'],
    ["port", "", '--port must be a whole number from 0 to 65535, not "".'],
    ["port", true, "--port must be a whole number from 0 to 65535, not true."],
    ["temperature", "hot", '--temperature must be a number from 0 to 5, not "hot".'],
    ["temperature", "Infinity", '--temperature must be a number from 0 to 5, not "Infinity".'],
    ["mmap", "maybe", '--mmap must be true or false, not "maybe".'],
    ["flash-attention", "fast", '--flash-attention must be one of auto, on, off, not "fast".'],
    ["stop", "a,,b", '--stop must be non-empty texts separated by commas, or a JSON array of them, not "a,,b".'],
    ["stop", '["a"', '--stop must be non-empty texts separated by commas, or a JSON array of them, not "["a"".'],
    [
      "stop",
      [1],
      "--stop must be non-empty texts separated by commas, or a JSON array of them, not a list whose item 1 is not a text.",
    ],
    [
      "stop",
      ["ell", ""],
      "--stop must be non-empty texts separated by commas, or a JSON array of them, not a list whose item 2 is empty.",
    ],
    ["port", [1], "--port must be a whole number from 0 to 65535, not a list."],
    ["chat-template-kwargs", "[1]", '--chat-template-kwargs must be a JSON object, not "[1]".'],
    ["host", "", '--host must be a non-empty text, not "".'],
    ["model", "", '--model must be a non-empty text, not "".'],
  ])("%s %j is refused with name, limit and value", (name, given, message) => {
    expect(() => read(name, given)).toThrow(new UsageError(message));
  });

  test("a long invalid value is not repeated", () => {
    expect(() => read("port", "9".repeat(500))).toThrow("not a text of 500 characters.");
  });
});

describe("environment", () => {
  test("is read, and an empty variable counts as absent", () => {
    const values = parseEnvironment(options, { SVC_PORT: "8080", SVC_MAX_QUEUE: "", PORT: "1", SVC_OTHER: "x" });
    expect([...values]).toEqual([["port", 8080]]);
  });

  test("is named in errors", () => {
    expect(() => parseEnvironment(options, { SVC_PORT: "http" })).toThrow("SVC_PORT must be");
  });

  test("of Kubernetes, for a Service named svc or svc-gateway, counts as absent", () => {
    const address = "tcp://10.0.0.1:9999";
    expect([...parseEnvironment(options, { SVC_PORT: address, SVC_GATEWAY_PORT: address })]).toEqual([]);
  });
});

describe("environment variables that match no option", () => {
  test("are reported when they are similar to one", () => {
    const environment = { SVC_PROT: "8080", SVC_MODELS: "a.gguf", SVC_PORT: "9", PROT: "1" };
    expect(misspeltVariables(options, environment)).toEqual([
      "SVC_PROT has no effect. Did you mean SVC_PORT?",
      "SVC_MODELS has no effect. Did you mean SVC_MODEL?",
    ]);
  });

  test("are ignored when they belong to other programs", () => {
    const kubernetes = ["SERVICE_HOST", "SERVICE_PORT", "PORT_9999_TCP", "PORT_9999_TCP_PORT", "PORT_9999_TCP_ADDR"];
    const installer = ["VERSION", "SLIM", "FLAVOUR", "PREFIX"];
    const environment = Object.fromEntries([...kubernetes, ...installer].map((name) => [`SVC_${name}`, "1"]));
    expect(misspeltVariables(options, environment)).toEqual([]);
  });
});

describe("config file", () => {
  const parse = (text: string) => parseConfigFile(options, text, "/etc/svc.toml");

  test("may have every TOML type, and dashes or underscores in keys", () => {
    const text =
      'port = 8080\nmax_queue = 3\ntop-p = 0.5\nmmap = false\nstop = ["a"]\n[chat-template-kwargs]\nb = "c"\n';
    expect(Object.fromEntries(parse(text))).toEqual({
      port: 8080,
      "max-queue": 3,
      "top-p": 0.5,
      mmap: false,
      stop: ["a"],
      "chat-template-kwargs": { b: "c" },
    });
  });

  test.each([
    ["prot = 1", "/etc/svc.toml has the unknown option prot. Did you mean port?"],
    ["temp = 1", "/etc/svc.toml has the unknown option temp. Did you mean temperature?"],
    ["zzzzzzzz = 1", "/etc/svc.toml has the unknown option zzzzzzzz."],
    ['config = "other.toml"', "/etc/svc.toml has the unknown option config."],
    ['port = "many"', 'port in /etc/svc.toml must be a whole number from 0 to 65535, not "many".'],
  ])("%j: %s", (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test.each([
    ["port = ", 1],
    ["port = 8080\r\nmax-queue = 3 4\r\n", 2],
    ['port = 8080\nhost = "a\nmax-queue = 3\n', 2],
    ["port = 8080\n\nport = 9090\n", 3],
    ["port = 8080\n[chat-template-kwargs\na = 1\n", 2],
    ['# names\nstop = [\n  "a",\n  "b"\n# more\nport = 8080\n', 2],
    ['chat-template = """\na\n"""\nport = 8080 9\n', 4],
    ['port = 8080\nchat-template = """\na\n', 2],
  ])("with a syntax error, %j, names its entry in the error", (text, line) => {
    expect(() => parse(text)).toThrow(
      new RegExp(`^/etc/svc\\.toml is not valid TOML in the entry that begins at line ${line}: [A-Z].*[^.]\\.$`),
    );
  });

  test("that is no text at all is refused at once", () => {
    // What is not quoted may be a key.
    expect(() => parse("api-key = sk-hush")).toThrow(/^\/etc\/svc\.toml [^"]* at line 1: Strings must be quoted\.$/);
    expect(() => parse("\u0000\n".repeat(2_000_000))).toThrow(/^\/etc\/svc\.toml is not valid TOML: Expected .*\.$/);
  });
});
