// What the deb and the rpm say of themselves, and do with their service when they are installed, upgraded and removed.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nfpmConfig } from "../../packaging/package.ts";
import { temporaryFolder } from "../support/folders.ts";

type Step = "postinstall" | "preremove" | "postremove";
const { scripts } = Bun.YAML.parse(nfpmConfig("svc", "folder")) as { scripts: Readonly<Record<Step, string>> };

test.each([
  ["linux-x64", "amd64"],
  ["linux-arm64", "arm64"],
])("for %s, they say %s, whatever machine makes them", (target, arch) => {
  const code = `process.stdout.write((await import("../../packaging/package.ts")).nfpmConfig("svc", "folder"))`;
  const env = { ...process.env, SVC_TARGET: target };
  const { stdout } = Bun.spawnSync([process.execPath, "-e", code], { cwd: import.meta.dir, env });
  expect(Bun.YAML.parse(stdout.toString())).toMatchObject({ arch });
});

/** Runs the script of a step, with these arguments of the package manager; returns what it asked of systemctl. */
function asked(step: Step, args: readonly string[], exitCode = 0): string[] {
  const folder = temporaryFolder();
  const log = join(folder, "log");
  writeFileSync(log, "");
  const systemctl = `#!/bin/sh\necho "$@" >> ${log}\necho failed >&2\nexit ${exitCode}\n`;
  writeFileSync(join(folder, "systemctl"), systemctl, { mode: 0o755 });
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  const ended = Bun.spawnSync(["sh", scripts[step], ...args], { env, stdout: "pipe", stderr: "pipe" });
  expect([ended.exitCode, ended.stdout.toString(), ended.stderr.toString()]).toEqual([0, "", ""]);
  return readFileSync(log, "utf8").split("\n").filter(Boolean);
}

test.each([
  ["the deb", ["remove"]],
  ["the rpm", ["0"]],
])("%s that is removed ends its service for good", (_, args) => {
  expect(asked("preremove", args)).toEqual(["disable --now svc.service"]);
  expect(asked("postremove", args)).toEqual(["daemon-reload"]);
});

test.each([
  ["the deb", ["upgrade", "2.0.0"], ["configure", "1.0.0"]],
  ["the rpm", ["1"], ["2"]],
])("%s that is upgraded leaves its service as it is", (_, remove, install) => {
  expect(asked("preremove", remove)).toEqual([]);
  expect(asked("postinstall", install)).toEqual(["daemon-reload"]);
});

test("where systemd does not run or is missing, svc is removed all the same", () => {
  for (const step of ["postinstall", "preremove", "postremove"] as const) {
    expect(asked(step, ["remove"], 1)).toHaveLength(1);
    const sh = Bun.which("sh") ?? "/bin/sh";
    const { exitCode } = Bun.spawnSync([sh, scripts[step], "remove"], { env: { PATH: temporaryFolder() } });
    expect(exitCode).toBe(0);
  }
});
