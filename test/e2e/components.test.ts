// Which components the executables unpack, when, and how svc-slim obtains missing ones.

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../src/config/version.ts";
import { ARCHIVES, withSandbox, type Sandbox } from "../support/binary.ts";
import { post } from "../support/post.ts";
import { runToEnd } from "../support/program.ts";
import { withServer } from "../support/server.ts";

setDefaultTimeout(60_000);

const FLAGS = ["--threads", "1"];
const servers: Bun.Server<undefined>[] = [];
afterEach(() => servers.splice(0).forEach((server) => void server.stop(true)));

/** Serves releases on this machine and records the requests. */
function releases({ damage = (bytes: Uint8Array) => bytes } = {}) {
  const requests: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch({ url }) {
      const { pathname } = new URL(url);
      requests.push(pathname);
      const name = pathname.replace(`/download/v${version}/`, "");
      if (!readdirSync(ARCHIVES).includes(name)) return new Response("", { status: 404 });
      return new Response(Uint8Array.from(damage(await Bun.file(join(ARCHIVES, name)).bytes())));
    },
  });
  servers.push(server);
  return { flags: [...FLAGS, "--releases", `http://127.0.0.1:${server.port}`], requests };
}

const embed = (url: string) => post(`${url}/v1/embeddings`, { input: "a text" });

async function embeddings(url: string) {
  const response = await embed(url);
  const { data, error } = (await response.json()) as {
    data?: { embedding: number[] }[];
    error?: { code: string; message: string };
  };
  return { status: response.status, dimensions: data?.[0]?.embedding.length, error };
}

const folders = ({ cacheDir }: Sandbox) => readdirSync(cacheDir).filter((name) => /^lib-[0-9a-f]{16}$/.test(name));

test("svc unpacks each component at its first use", () =>
  withSandbox((sandbox) =>
    withServer(
      FLAGS,
      async ({ url }) => {
        expect(folders(sandbox)).toHaveLength(1);
        expect(await embeddings(url)).toMatchObject({ status: 200, dimensions: 384 });
        expect(folders(sandbox)).toHaveLength(2);
        const [one = "", other = ""] = folders(sandbox);
        const files = [...readdirSync(join(sandbox.cacheDir, one)), ...readdirSync(join(sandbox.cacheDir, other))];
        expect(files).toContain("all-minilm-l6-v2.gguf");
        expect(files).not.toContain("whisper-base.bin");
      },
      sandbox.command(),
    ),
  ));

test("svc-slim downloads nothing without permission, and says how to allow it", () =>
  withSandbox(async (sandbox) => {
    const { flags, requests } = releases();
    await withServer(
      flags,
      async ({ url }) => {
        const { status, error } = await embeddings(url);
        expect(status).toBe(503);
        expect(error?.code).toBe("engine_unavailable");
        expect(error?.message).toContain("svc pull component:embeddings");
        expect(error?.message).toContain("--fetch-components");
      },
      sandbox.command({ binary: "svc-slim" }),
    );
    expect(requests).toEqual([]);
    expect(folders(sandbox)).toHaveLength(1);
  }));

test("svc-slim downloads a component once, when a request needs it and downloads are allowed", () =>
  withSandbox(async (sandbox) => {
    const { flags, requests } = releases();
    for (const _ of ["first start", "second start"]) {
      await withServer(
        [...flags, "--fetch-components"],
        async ({ url }) => {
          const answers = await Promise.all([embeddings(url), embeddings(url)]);
          for (const answer of answers) expect(answer).toMatchObject({ status: 200, dimensions: 384 });
        },
        sandbox.command({ binary: "svc-slim" }),
      );
    }
    expect(requests).toEqual([expect.stringMatching(/\/svc-component-embeddings-[0-9a-f]{16}\.zst$/)]);
    expect(folders(sandbox)).toHaveLength(2);
    expect(readdirSync(sandbox.cacheDir).filter((name) => name.endsWith(".zst"))).toEqual([]);
  }));

test("svc-slim does not use a damaged download, and tries again with the next request", () =>
  withSandbox(async (sandbox) => {
    let isDamaged = true;
    const { flags } = releases({
      damage(bytes) {
        if (isDamaged) bytes.fill(0, 1000, 1010);
        isDamaged = false;
        return bytes;
      },
    });
    await withServer(
      [...flags, "--fetch-components"],
      async ({ url }) => {
        expect(await embeddings(url)).toMatchObject({ status: 503, error: { code: "engine_unavailable" } });
        expect(folders(sandbox)).toHaveLength(1);
        expect(await embeddings(url)).toMatchObject({ status: 200, dimensions: 384 });
      },
      sandbox.command({ binary: "svc-slim" }),
    );
  }));

test("svc pull downloads a component of svc-slim; a server then needs no permission, and repairs nothing without it", () =>
  withSandbox(async (sandbox) => {
    const { flags } = releases();
    const command = sandbox.command({ binary: "svc-slim" });
    const run = await runToEnd([...command, ...flags, "pull", "component:embeddings"]);
    expect(run).toMatchObject({ code: 0, out: "component:embeddings: it is installed and used from now on.\n" });
    const use = (expected: number) =>
      withServer(FLAGS, async ({ url }) => expect((await embeddings(url)).status).toBe(expected), command);
    await use(200);
    for (const folder of folders(sandbox)) {
      const file = join(sandbox.cacheDir, folder, "all-minilm-l6-v2.gguf");
      if (readdirSync(join(sandbox.cacheDir, folder)).includes("all-minilm-l6-v2.gguf")) truncateSync(file, 1000);
    }
    await use(503);
  }));

test("svc pull lists the components when it is asked for an unknown one", () =>
  withSandbox(async ({ command }) => {
    const slim = await runToEnd([...command({ binary: "svc-slim" }), "pull", "component:nonsense"]);
    expect(slim).toMatchObject({
      code: 2,
      err: expect.stringContaining("embeddings, transcription, speech, images"),
    });
    const full = await runToEnd([...command(), "pull", "component:speech"]);
    expect(full).toMatchObject({ code: 2, err: expect.stringContaining("all components inside") });
  }));

test("the self-test of svc-slim says what is not there, downloads nothing, and passes; without a model, too", () =>
  withSandbox(async (sandbox) => {
    const { flags, requests } = releases();
    const command = [...sandbox.command({ binary: "svc-slim" }), ...flags, "--fetch-components", "--no-model"];
    const { code, out } = await runToEnd([...command, "self-test"]);
    const lines = out.trim().split("\n");
    expect(lines[0]).toStartWith("ok    model: svc-mini on ");
    for (const [name, route] of [
      ["embeddings", "embeddings"],
      ["speech", "audio/speech"],
      ["transcription", "audio/transcriptions"],
      ["images", "images/generations"],
    ]) {
      const line = lines.find((one) => one.startsWith(`skip  POST /v1/${route}: `));
      // A build without pip lacks some models, as the build says.
      if (!line?.endsWith(": not in this build")) expect(line).toContain(`svc pull component:${name}`);
    }
    expect(lines.find((line) => line.includes("/v1/vision/ocr"))).toStartWith("ok    ");
    expect([code, requests]).toEqual([0, []]);
    expect(folders(sandbox)).toHaveLength(2);
  }));
