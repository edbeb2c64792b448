// The GitHub action, run as by a runner: its step with the inputs' defaults in the environment.

import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeRelease } from "../packaging/fake-release.ts";
import { temporaryFolder } from "../support/folders.ts";
import { PROGRAM } from "../support/server.ts";

setDefaultTimeout(60_000);

const ROOT = join(import.meta.dir, "../..");

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: {
    readonly steps: readonly [{ readonly run: string; readonly env: Readonly<Record<string, string>> }];
  };
}

const action = Bun.YAML.parse(readFileSync(join(ROOT, "action.yml"), "utf8")) as Action;
const [step] = action.runs.steps;

/** Writes a program that stands in for svc: it is svc, and records its process id. */
const standIn = (folder: string) => `{ echo $$ > ${folder}/pid; exec ${PROGRAM.join(" ")} "$@"; }`;

/** Runs the step; the server that it leaves running is stopped at the end of the test. */
async function run(
  inputs: Readonly<Record<string, string>>,
  { folder = temporaryFolder(), ref = "", releases = "" } = {},
) {
  const svc = join(folder, "stand-in");
  writeFileSync(svc, `#!/bin/sh\n${standIn(folder)}\n`, { mode: 0o755 });
  const context: Readonly<Record<string, string>> = {
    "${{ github.server_url }}/${{ github.action_repository || github.repository }}/releases": releases,
    "${{ github.action_ref }}": ref,
  };
  const valueOf = (expression: string) => {
    const name = /^\$\{\{ inputs\.(\w+) \}\}$/.exec(expression)?.[1] ?? "";
    return context[expression] ?? { executable: svc, ...inputs }[name] ?? action.inputs[name]?.default ?? "";
  };
  const given = Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, valueOf(value)]));
  const files = {
    GITHUB_OUTPUT: join(folder, "output"),
    GITHUB_ENV: join(folder, "env"),
    GITHUB_PATH: join(folder, "path"),
  };
  for (const file of Object.values(files)) writeFileSync(file, "");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    TMPDIR: folder,
    RUNNER_TEMP: folder,
    ...given,
    ...files,
  };
  const shell = Bun.spawn(["bash", "-eo", "pipefail", "-c", step.run], {
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, said] = [await shell.exited, await shell.stdout.text()];
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
  onTestFinished(() => {
    // A server that failed to start has already ended.
    if (code === 0) process.kill(pid);
  });
  const pairsOf = (path: string) =>
    Object.fromEntries(
      readFileSync(path, "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split(/=(.*)/s, 2)),
    );
  return {
    code,
    said,
    outputs: pairsOf(files.GITHUB_OUTPUT),
    variables: pairsOf(files.GITHUB_ENV),
    path: readFileSync(files.GITHUB_PATH, "utf8"),
  };
}

test("the following steps find a server that answers", async () => {
  const { code, outputs, variables } = await run({ port: "0", options: "--threads 1\n--ctx 1024\n" });
  expect(code).toBe(0);
  expect(Object.keys(outputs).toSorted()).toEqual(Object.keys(action.outputs).toSorted());
  expect(variables["OPENAI_BASE_URL"]).toBe(`${outputs["url"]}/v1`);
  const models = await (await fetch(`${variables["OPENAI_BASE_URL"]}/models`)).json();
  expect(models).toMatchObject({
    data: expect.arrayContaining([expect.objectContaining({ id: "svc-mini", n_ctx: 1024 })]),
  });
  expect(readFileSync(outputs["log"] ?? "", "utf8")).toContain("svc-mini");
});

test.skipIf(Bun.which("svc") !== null).each([
  ["the tag of the action", {}, "v1.2.3", "1.2.3"],
  ["`version`", { version: "1.2.3" }, "main", "1.2.3"],
  ["the newest", {}, "main", "2.0.0"],
])("without svc on the runner a release is installed: %s", async (_, inputs, ref, version) => {
  await using release = fakeRelease();
  const { folder, url: releases } = release;
  const platform = `${process.platform}-${process.arch}`;
  for (const one of ["1.2.3", "2.0.0"]) {
    await release.publish({ name: "svc", version: one, platform, runs: standIn(folder) });
  }
  const { code, outputs, path } = await run({ executable: "svc", port: "0", ...inputs }, { folder, ref, releases });
  expect(code).toBe(0);
  expect((await fetch(`${outputs["url"]}/health`)).status).toBe(200);
  expect(release.requests.at(-1)).toBe(`/download/v${version}/svc-${version}-${platform}.tar.xz`);
  expect(path).toBe(`${folder}/svc/bin\n`);
});

test("a server that does not start fails the step at once, with the reason", async () => {
  const { code, said } = await run({ port: "0", options: "--model missing.gguf" });
  expect(code).toBe(1);
  expect(said).toContain("::error::svc did not become ready");
});
