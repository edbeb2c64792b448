import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseApiKeys } from "../../src/config/api-keys.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { sharedFolder } from "../support/folders.ts";

const home = sharedFolder();

function file(content: string): string {
  const path = join(home, `${crypto.randomUUID()}.keys`);
  writeFileSync(path, content);
  return path;
}

test.each<[given: string, name: string, key: string]>([
  ["ada=secret", "ada", "secret"],
  ["secret", "key-1", "secret"],
  ["sk-9_x/+", "key-1", "sk-9_x/+"],
  ["ci-2=a=b==", "ci-2", "a=b=="],
  ["c2VjcmV0", "key-1", "c2VjcmV0"],
  ["c2VjcmV0cw==", "key-1", "c2VjcmV0cw=="],
  ["c2VjcmV0cyE=", "key-1", "c2VjcmV0cyE="],
  ["c2VjcmV0PQ==", "key-1", "c2VjcmV0PQ=="],
  ["ada=c2VjcmV0==", "ada", "c2VjcmV0=="],
  ["ada=a=", "ada", "a="],
  ["q2/0+Jj1YVbVtZq8s0q3o5v1Q9bqv3yXJw7hX0kZ5dA=", "key-1", "q2/0+Jj1YVbVtZq8s0q3o5v1Q9bqv3yXJw7hX0kZ5dA="],
  ["=x", "key-1", "=x"],
])("%s is a key with or without a name", (given, name, key) => {
  expect(parseApiKeys([given], [])).toEqual([{ name, key }]);
});

test("files add keys, without comments and blank lines, and default names count through all keys", () => {
  const keys = parseApiKeys(["first"], [file("# people\r\n\r\nada=a1\r\n  ada=a2  \n"), file("last")]);
  expect(keys.map(({ name, key }) => `${name} ${key}`)).toEqual(["key-1 first", "ada a1", "ada a2", "key-4 last"]);
});

test("flags, environment and config file set keys like any other list", () => {
  writeFileSync(join(home, "more.keys"), "bob=b\n");
  const config = join(home, "svc.toml");
  writeFileSync(config, 'api-key-file = ["more.keys"]\n');
  const read = (environment: Record<string, string>) => readConfig(new Map([["config", config]]), environment, "/srv");
  expect(read({ HOME: home, SVC_API_KEY: "ada=a,eve=e" }).apiKeys.map(({ name }) => name)).toEqual([
    "ada",
    "eve",
    "bob",
  ]);
  expect(read({ HOME: home }).apiKeys).toEqual([{ name: "bob", key: "b" }]);
});

describe("is refused without showing the key:", () => {
  const messageOf = (given: string[], files: string[] = []) => {
    try {
      parseApiKeys(given, files);
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
    return "nothing";
  };

  test.each<[what: string, given: string[], message: string]>([
    [
      "blanks",
      ["ada=hush hush"],
      "API key 1 of those given must be visible ASCII characters, as NAME=KEY or alone; 13 characters include others.",
    ],
    ["a comment behind a padded key", ["c2VjcmV0cw== # laptop"], "API key 1 of those given must be visible ASCII"],
    ["other letters", ["hüsh"], "API key 1 of those given must be visible ASCII characters"],
    ["a name alone", ["ada="], "API key 1 of those given is empty: write NAME=KEY."],
    ["a longer name alone", ["charlesbabb="], "API key 1 of those given is empty"],
    ["a name with a mere =", ["ada=="], "API key 1 of those given is empty"],
    ["nothing but =", ["="], "API key 1 of those given is empty"],
    ["one key under two names", ["ada=hush", "eve=hush"], "The API keys ada and eve are the same."],
  ])("%s", (_, given, message) => {
    expect(messageOf(given)).toStartWith(message);
    expect(messageOf(given)).not.toMatch(/h.sh/);
  });

  test.each<[what: string, content: string, message: string]>([
    ["a name alone", "bob=b\n\nada=\n", "API key 3 of those given (line 3 of FILE) is empty: write NAME=KEY."],
    [
      "blanks",
      "# people\r\n\r\nhush hush\r\n",
      "API key 2 of those given (line 3 of FILE) must be visible ASCII characters, as NAME=KEY or alone; 9 characters include others.",
    ],
    ["the key of another name", "bob=b\neve=hush\n", "The API keys ada and eve (line 2 of FILE) are the same."],
  ])("%s in a file, by its line", (_, content, message) => {
    const path = file(content);
    expect(messageOf(["ada=hush"], [path])).toBe(message.replace("FILE", path));
  });

  test("a file that cannot be read or has no key, since the server would be open", () => {
    expect(messageOf([], [join(home, "missing")])).toBe(
      `The file of API keys ${join(home, "missing")} cannot be read: there is no such file or folder.`,
    );
    const empty = file("# nobody yet\n\n");
    expect(messageOf([], [empty])).toBe(`The file of API keys ${empty} contains no key.`);
  });
});
