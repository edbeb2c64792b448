// What the workflow of releases does before it publishes anything, and the scripts that it tries artifacts with.

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { notesOf } from "../../packaging/notes.ts";
import { temporaryFolder } from "../support/folders.ts";
import { runToEnd } from "../support/program.ts";

interface Step {
  readonly name?: string;
  readonly if?: string;
  readonly run?: string;
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly uses?: string;
  readonly if?: string;
  readonly steps?: readonly Step[];
}

const root = join(import.meta.dir, "../..");
const workflow = (name: string) =>
  Bun.YAML.parse(readFileSync(join(root, ".github/workflows", name), "utf8")) as {
    readonly on: object;
    readonly concurrency: { readonly group: string };
    readonly jobs: Readonly<Record<string, Job>>;
  };
const release = workflow("release.yml");
const ci = workflow("ci.yml");
const scripts = (job: Job | undefined) => (job?.steps ?? []).flatMap(({ run }) => run ?? []);

test("nothing is published before the gates passed, and before everything was tried", () => {
  const { publish, gates } = release.jobs;
  expect(publish?.needs).toEqual(["gates", "build", "windows", "container"]);
  expect(gates?.uses).toBe("./.github/workflows/ci.yml");
  expect(ci.on).toHaveProperty("workflow_call");
  // In the group of its caller, which waits for it, it would never begin.
  expect(ci.concurrency.group).not.toBe(release.concurrency.group);
  for (const name of ["gates", "build", "windows-build"]) expect(release.jobs[name]?.needs).toBe("version");
  const publishing = /--push|gh release create/;
  const others = Object.entries(release.jobs).filter(([name]) => name !== "publish");
  expect(others.filter(([, job]) => publishing.test(scripts(job).join("\n")))).toEqual([]);
  const steps = publish?.steps ?? [];
  expect(steps.filter(({ if: when, run = "" }) => publishing.test(run) && when !== "github.ref_type == 'tag'")).toEqual(
    [],
  );
});

test("the image is built and run before that, also when the workflow is started by hand", () => {
  const { container } = release.jobs;
  const run = scripts(container).join("\n");
  expect(run).toMatch(/docker buildx build --load .*--tag tried/);
  expect(run).toMatch(/docker run --rm --read-only .* tried self-test/);
  expect(run).toContain("svc wait");
  expect([container?.if, ...(container?.steps ?? []).map((step) => step.if)].filter(Boolean)).toEqual([]);
});

test("each archive and each package is tried with all that is inside, those for Linux in a clean system", () => {
  const { build, windows } = release.jobs;
  const [archives = ""] = scripts(build).filter((run) => run.includes(".tar.xz"));
  expect(archives).toMatch(/docker run .* ubuntu:22\.04 \\\n\s+\/repository\/\.ci\/smoke /);
  const [packages = ""] = scripts(build).filter((run) => run.includes("/repository/.ci/smoke-package"));
  for (const word of ["svc svc-slim", "ubuntu:22.04=deb", "fedora:42=rpm"]) expect(packages).toContain(word);
  expect(scripts(windows).join("\n")).toContain(".ci/smoke tried/");
});

/** Runs a script of `.ci` with an svc that acts as `cases`, lines of a shell's `case`, say. */
async function smoke(name: string, cases = "") {
  const folder = temporaryFolder();
  const svc = join(folder, "svc");
  writeFileSync(
    svc,
    `#!/bin/sh
while [ "\${1#--*-dir}" != "$1" ]; do shift 2; done
case "$1" in
  ${cases}
  --version) echo "svc 1.2.3 (abc)" ;;
  self-test) echo "ok    POST /v1/chat/completions/{id}/cancel: stream ended" ;;
  ocr) echo "It reads text" ;;
  say) echo sound > "$4" ;;
  transcribe) echo "Good morning." ;;
  draw) echo image > "$4" ;;
esac
`,
    { mode: 0o755 },
  );
  const { code } = await runToEnd([join(root, ".ci/smoke"), svc, name], {
    env: { PATH: process.env["PATH"], TMPDIR: folder },
  });
  expect(readdirSync(folder)).toEqual(["svc"]);
  return code === 0;
}

test("an executable that does all of it passes the smoke test", async () => {
  expect(await smoke("svc")).toBe(true);
});

test.each([
  ["--version) exit 1 ;;"],
  ["self-test) echo 'ok    cancel'; exit 1 ;;"],
  ["self-test) echo 'ok    cancel'; echo 'skip  speech: not in this build' ;;"],
  ["ocr) echo 'It reads' ;;"],
  ["say) exit 1 ;;"],
  ["transcribe) echo Nothing ;;"],
  ["draw) : ;;"],
])("one with the fault `%s` does not", async (fault) => {
  expect(await smoke("svc", fault)).toBe(false);
});

test("svc-slim may skip checks, and need not speak or draw", async () => {
  const skips = "self-test) echo 'ok    cancel'; echo 'skip  speech: not here' ;;";
  expect(await smoke("svc-slim", `${skips}\n say | transcribe | draw) exit 1 ;;`)).toBe(true);
});

test("the container's folder has what its Dockerfile copies, for each architecture", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "dist/release"), { recursive: true });
  for (const platform of ["linux-x64", "linux-arm64"]) {
    const top = `svc-1.2.3-${platform}`;
    mkdirSync(join(folder, top));
    for (const name of ["svc", "LICENSE", "NOTICE"]) writeFileSync(join(folder, top, name), platform);
    await runToEnd(["tar", "-cJf", `dist/release/${top}.tar.xz`, top], { cwd: folder });
  }
  const pairs = ["linux-x64:amd64", "linux-arm64:arm64"];
  const { code, err } = await runToEnd([join(root, ".ci/image-context"), "image", ...pairs], { cwd: folder });
  expect([code, err]).toEqual([0, ""]);
  const dockerfile = readFileSync(join(root, "packaging/templates/Dockerfile"), "utf8");
  const copied = [...dockerfile.matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, sources = ""]) =>
    sources.split(" ").filter((one) => !one.startsWith("--")),
  );
  expect(copied).toContain("empty");
  for (const architecture of ["amd64", "arm64"]) {
    const missing = copied.map((path) => path.replace("${TARGETARCH}", architecture));
    expect(missing.filter((path) => !existsSync(join(folder, "image", path)))).toEqual([]);
  }
});

const CHANGELOG = `# Changelog

What users notice.

## Unreleased

- later

## 1.2.10 (1 December 2026)

### Text

- ten

## 1.2.1

- one

## 1.1.0
`;

test("the notes of a release are the section of its version alone", () => {
  expect(notesOf(CHANGELOG, "1.2.10")).toBe("### Text\n\n- ten");
  expect(notesOf(CHANGELOG, "1.2.1")).toBe("- one");
});

test.each(["1.2", "1.1.0", "2.0.0"])("a version without a section, or with an empty one, is refused: %s", (version) => {
  for (const changelog of [CHANGELOG, CHANGELOG.trimEnd()]) {
    expect(() => notesOf(changelog, version)).toThrow(
      `CHANGELOG.md has no section about ${version}, and a release's notes are that section. Name it "## ${version}"`,
    );
  }
});

test("`npm run notes` prints the notes, or fails with that sentence", async () => {
  const run = await runToEnd([process.execPath, join(root, "build.ts"), "notes"]);
  const released = readFileSync(join(root, "CHANGELOG.md"), "utf8").includes("\n## 0.1.0");
  if (released) expect(run).toMatchObject({ code: 0, err: "" });
  else expect(run).toMatchObject({ code: 1, out: "", err: expect.stringContaining("has no section about") });
});

const shellcheck = Bun.which("shellcheck");
test.skipIf(shellcheck === null)("shellcheck reports nothing for the scripts of .ci", async () => {
  const paths = readdirSync(join(root, ".ci")).map((name) => join(root, ".ci", name));
  expect(await runToEnd(["shellcheck", ...paths])).toMatchObject({ code: 0, out: "" });
});
