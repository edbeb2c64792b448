// `svc update` of the compiled binary, called through a link to it, with releases on this machine.

import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fakeRelease, type FakeRelease } from "../packaging/fake-release.ts";
import { BINARY, binaryIn } from "../support/binary.ts";
import { runToEnd } from "../support/program.ts";
import { streamChat } from "../support/chat-client.ts";
import { withServer } from "../support/server.ts";

setDefaultTimeout(60_000);

const PLATFORM = `${process.platform}-${process.arch}`;

function installed({ folder }: FakeRelease): string {
  mkdirSync(join(folder, "bin"));
  return binaryIn(join(folder, "bin"));
}

const update = ({ url, folder }: FakeRelease, svc: string, ...more: string[]) =>
  runToEnd(["env", "-i", `HOME=${folder}`, `PATH=${process.env["PATH"]}`, svc, "--releases", url, "update", ...more]);

test("the newest release replaces the executable, and only when it is requested", async () => {
  await using release = fakeRelease();
  const svc = installed(release);
  await release.publish({ name: "svc", version: "99.0.0", platform: PLATFORM });
  const check = await update(release, svc, "--check");
  expect(check).toMatchObject({ code: 0, err: "" });
  expect(check.out).toStartWith("svc 99.0.0 is available");
  expect(release.requests).toEqual(["/latest/download/SHA256SUMS"]);
  const { ino } = statSync(svc);
  const run = await update(release, svc);
  expect(run).toMatchObject({ code: 0, out: expect.stringMatching(/^svc 99\.0\.0 has replaced \d/) });
  expect((await runToEnd([svc, "--version"])).out).toBe("svc 99.0.0 (0123abc)\n");
  expect(statSync(svc).ino).not.toBe(ino);
  expect(readdirSync(join(release.folder, "bin"))).toEqual(["svc"]);
});

test("a server keeps its own engines when an update has replaced its executable", async () => {
  await using release = fakeRelease();
  const svc = installed(release);
  const command = ["env", "-i", `HOME=${release.folder}`, svc, "--threads", "1"];
  await withServer(
    [],
    async (server) => {
      await release.publish({ name: "svc", version: "99.0.0", platform: PLATFORM });
      expect((await update(release, svc)).code).toBe(0);
      process.kill(server.enginePid(), "SIGKILL");
      const question = { messages: [{ role: "user", content: "What is the capital of France?" }], temperature: 0 };
      expect(await streamChat(server.url, question)).toMatchObject({ status: 200, done: true });
      const body = { model: "all-minilm-l6-v2", input: "an engine that starts now" };
      expect((await server.post("/v1/embeddings", body)).status).toBe(200);
    },
    command,
  );
});

test("an older release, or none, changes nothing", async () => {
  await using release = fakeRelease();
  const svc = installed(release);
  expect(await update(release, svc)).toMatchObject({ code: 5, err: expect.stringContaining("has no SHA256SUMS") });
  await release.publish({ name: "svc", version: "0.0.1", platform: PLATFORM });
  expect((await update(release, svc)).out).toContain("is the newest release");
  await release.publish({ name: "svc", version: "99.0.0", platform: "plan9-vax" });
  const { code, err } = await update(release, svc);
  expect({ code, err }).toEqual({ code: 5, err: `svc: The newest release has no svc for ${PLATFORM}.\n` });
});

test("a release that is damaged or does not run leaves the executable unchanged", async () => {
  for (const fault of ["damaged", "broken", "without its libraries"]) {
    await using release = fakeRelease();
    const svc = installed(release);
    const { ino } = statSync(svc);
    const says = fault === "broken" ? { says: "cannot execute" } : {};
    await release.publish({
      name: "svc",
      version: "99.0.0",
      platform: PLATFORM,
      ...says,
      fails: fault === "without its libraries",
    });
    if (fault === "damaged") release.damage();
    const run = await update(release, svc);
    expect(run).toMatchObject({
      code: 5,
      err: expect.stringContaining(fault === "damaged" ? "wrong checksum" : "nothing was changed"),
    });
    expect(statSync(svc).ino).toBe(ino);
    expect(readdirSync(join(release.folder, "bin"))).toEqual(["svc"]);
  }
});

test("checksums from another machine require encryption, and a build without a release says what it needs", async () => {
  const { code, err } = await runToEnd([BINARY, "--releases", "http://example.invalid", "update"]);
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("https URL") });
  if (process.env["SVC_RELEASES"] !== undefined) return;
  expect((await runToEnd(["env", "-i", BINARY, "update", "--check"])).err).toContain("--releases");
});
