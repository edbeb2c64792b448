// The installer, with releases on this machine.

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fill } from "../../packaging/template.ts";
import { blocksOf, pages } from "../docs/markdown.ts";
import { runToEnd } from "../support/program.ts";
import { fakeRelease, type FakeRelease } from "./fake-release.ts";

const PLATFORM = `${process.platform}-${process.arch}`;
const SCRIPT = fill("install.sh", { releases: "https://example.invalid/releases" });
const FILES = [
  "bin/svc",
  "share/bash-completion/completions/svc",
  "share/fish/vendor_completions.d/svc.fish",
  "share/man/man1/svc.1.gz",
  "share/zsh/site-functions/_svc",
];

async function run({ url, folder }: FakeRelease, variables: Record<string, string> = {}, ...args: string[]) {
  const script = join(folder, "install.sh");
  writeFileSync(script, SCRIPT);
  mkdirSync(join(folder, "tmp"), { recursive: true });
  return runToEnd(["sh", script, ...args], {
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      TMPDIR: join(folder, "tmp"),
      SVC_RELEASES: url,
      SVC_PREFIX: join(folder, "prefix"),
      ...variables,
    },
  });
}

const installed = ({ folder }: FakeRelease) =>
  existsSync(join(folder, "prefix"))
    ? (readdirSync(join(folder, "prefix"), { recursive: true }) as string[])
        .filter((path) => FILES.includes(path) || path.includes("new"))
        .sort()
    : [];
const leftovers = ({ folder }: FakeRelease) => readdirSync(join(folder, "tmp"));

test("the newest version can be installed, installed again over itself, and removed", async () => {
  await using release = fakeRelease();
  await release.publish({ name: "svc", version: "1.2.3", platform: PLATFORM });
  for (const _ of ["first", "second"]) {
    const { code, out, err } = await run(release);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("svc 1.2.3 (0123abc) is installed");
    expect(out).toContain(`export PATH="${join(release.folder, "prefix/bin")}:$PATH"`);
    expect(installed(release)).toEqual(FILES);
  }
  expect(await run(release, {}, "--uninstall")).toMatchObject({ code: 0, err: "" });
  expect(installed(release)).toEqual([]);
  expect(leftovers(release)).toEqual([]);
});

test("a strict umask leaves a program that others can run", async () => {
  await using release = fakeRelease();
  await release.publish({ name: "svc", version: "1.2.3", platform: PLATFORM });
  const before = process.umask(0o077);
  const { code } = await run(release).finally(() => process.umask(before));
  expect(code).toBe(0);
  const modes = ["", "bin", "bin/svc", "share/man/man1/svc.1.gz"].map((path) =>
    (statSync(join(release.folder, "prefix", path)).mode & 0o777).toString(8),
  );
  expect(modes).toEqual(["755", "755", "755", "644"]);
});

test("removing svc where none is installed is an error that names the variable for the folder", async () => {
  await using release = fakeRelease();
  expect(await run(release, {}, "--uninstall")).toEqual({
    code: 1,
    out: "",
    err: `install.sh: no svc is installed in ${join(release.folder, "prefix")}; set SVC_PREFIX if it is in another folder\n`,
  });
});

test("a program that cannot be run may be in a folder without execution, which is told", async () => {
  await using release = fakeRelease();
  await release.publish({ name: "svc", version: "1.2.3", platform: PLATFORM, runsNowhere: true });
  const { code, err } = await run(release);
  expect(code).toBe(1);
  expect(err).toContain("svc 1.2.3 does not run on this machine; nothing was installed.");
  expect(err).toMatch(/noexec.* TMPDIR/);
  expect(installed(release)).toEqual([]);
  expect(leftovers(release)).toEqual([]);
});

test("the commands of docs/releases.md install svc-slim and remove it", async () => {
  await using release = fakeRelease();
  await release.publish({ name: "svc-slim", version: "1.2.3", platform: PLATFORM });
  const page = pages().find(({ path }) => path === "docs/releases.md");
  const block = page && blocksOf(page).find(({ code }) => code.includes("sh install.sh"));
  const code = block?.code.replace("https://github.com/OWNER/svc/releases", release.url) ?? "";
  const env = { PATH: process.env["PATH"], HOME: release.folder, SVC_PREFIX: join(release.folder, "prefix") };
  const { out, err } = await runToEnd(["sh", "-ec", code], { cwd: release.folder, env });
  const [first, ...others] = out.trimEnd().split("\n");
  expect(err).toBe("");
  expect(first).toStartWith("svc 1.2.3 (0123abc) is installed");
  expect(others.at(-1)).toStartWith("svc is removed from");
});

test("a version and svc-slim can be chosen", async () => {
  await using release = fakeRelease();
  await release.publish({ name: "svc-slim", version: "1.2.3", platform: PLATFORM });
  await release.publish({ name: "svc", version: "2.0.0-rc.1", platform: PLATFORM });
  expect((await run(release, { SVC_VERSION: "1.2.3", SVC_SLIM: "1" })).out).toContain("svc 1.2.3");
  expect((await run(release)).out).toContain("svc 2.0.0-rc.1");
  expect(release.requests).toContain(`/download/v1.2.3/svc-slim-1.2.3-${PLATFORM}.tar.xz`);
});

test("a flavour for GPUs is installed on request", async () => {
  await using release = fakeRelease();
  await release.publish({ name: "svc", version: "1.2.3", platform: PLATFORM });
  const gpu = { name: "svc", version: "1.2.3", platform: `${PLATFORM}-vulkan`, says: "svc 1.2.3 (vulkan)" };
  await release.publish(gpu);
  expect((await run(release, { SVC_FLAVOUR: "vulkan" })).out).toStartWith("svc 1.2.3 (vulkan) is installed");
  expect((await run(release)).out).toStartWith("svc 1.2.3 (0123abc) is installed");
  expect((await run(release, { SVC_FLAVOUR: "cuda" })).err).toContain(`no svc for ${PLATFORM}-cuda`);
});

test("a release that is damaged or does not run leaves the installed version unchanged", async () => {
  await using release = fakeRelease();
  await release.publish({ name: "svc", version: "1.0.0", platform: PLATFORM });
  expect((await run(release)).code).toBe(0);
  const before = readFileSync(join(release.folder, "prefix/bin/svc"));
  await release.publish({ name: "svc", version: "2.0.0", platform: PLATFORM });
  release.damage();
  const { code, err } = await run(release);
  expect(code).toBe(1);
  expect(err).toContain("arrived damaged; nothing was installed");
  expect(readFileSync(join(release.folder, "prefix/bin/svc")).equals(before)).toBe(true);
  expect(leftovers(release)).toEqual([]);
});

test.skipIf(process.platform !== "linux").each([
  ["glibc 2.9", false],
  ["glibc 2.17", false],
  ["glibc 2.34", false],
  ["glibc 2.35", true],
  ["glibc 2.41", true],
])("on a system with %s svc is installed: %p", async (glibc, isInstalled) => {
  await using release = fakeRelease();
  await release.publish({ name: "svc", version: "1.0.0", platform: PLATFORM });
  const programs = join(release.folder, "programs");
  mkdirSync(programs);
  writeFileSync(join(programs, "getconf"), `#!/bin/sh\necho "${glibc}"\n`, { mode: 0o755 });
  const { code, err } = await run(release, { PATH: `${programs}:${process.env["PATH"]}` });
  const refusal = `install.sh: svc needs glibc 2.35 or newer; this system has ${glibc}\n`;
  expect([code, err]).toEqual(isInstalled ? [0, ""] : [1, refusal]);
  expect(installed(release)).toEqual(isInstalled ? FILES : []);
});

test("a platform without a release gets an error, and so does an invalid argument", async () => {
  await using release = fakeRelease();
  await release.publish({ name: "svc", version: "1.0.0", platform: "plan9-vax" });
  expect(await run(release)).toMatchObject({
    code: 1,
    err: `install.sh: this release has no svc for ${PLATFORM}\n`,
  });
  expect((await run(release, {}, "--help")).err).toContain("--uninstall");
  expect(installed(release)).toEqual([]);
});

const shellcheck = Bun.which("shellcheck");
if (shellcheck === null) console.log("install.sh is not linted: shellcheck is not installed");
test.skipIf(shellcheck === null)("shellcheck reports nothing", () => {
  const { stdout } = Bun.spawnSync(["shellcheck", "-s", "sh", "-"], { stdin: new TextEncoder().encode(SCRIPT) });
  expect(stdout.toString()).toBe("");
});
