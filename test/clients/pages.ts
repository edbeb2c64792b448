// Runs a page in Chromium and returns its findings.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Page {
  /** Runs in the page: an expression with its findings, or a promise of them. */
  readonly script: string;
  /** Other paths of the page's own server. */
  readonly files?: Readonly<Record<string, () => Response>>;
  /** Flags of the browser. */
  readonly flags?: readonly string[];
  /** File for a picture of the page, taken when its findings have arrived. */
  readonly screenshot?: string;
}

/** Returns the path in `CHROMIUM`, or that of chromium if it is installed. */
export const chromium = (): string | undefined => process.env["CHROMIUM"] ?? Bun.which("chromium") ?? undefined;

const TIMEOUT_MS = 150_000;
const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--remote-debugging-port=0",
];

/** Opens the page in this browser and resolves with its findings. Throws when it reports none. */
export async function findingsOf<Findings>(
  browser: string,
  { script, files, flags = [], screenshot }: Page,
): Promise<Findings> {
  const { promise, resolve, reject } = Promise.withResolvers<Findings>();
  const report = (path: string, body: string) => `fetch("${path}", { method: "POST", body: ${body} })`;
  const told = `.then((findings) => ${report("/findings", "JSON.stringify(findings)")})`;
  const failed = `.catch((error) => ${report("/failure", "String(error)")})`;
  const run = `Promise.resolve().then(() => ${script})${told}${failed}`;
  const page = `<!doctype html><meta charset="utf-8"><title>svc</title><body><script>${run}</script>`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/": () => new Response(page, { headers: { "Content-Type": "text/html" } }),
      ...files,
      "/findings": async (request) => {
        resolve((await request.json()) as Findings);
        return new Response();
      },
      "/failure": async (request) => {
        reject(new Error(await request.text()));
        return new Response();
      },
    },
  });
  const profile = mkdtempSync(join(tmpdir(), "svc-browser-"));
  const address = `http://localhost:${server.port}/`;
  const child = Bun.spawn([browser, ...FLAGS, ...flags, `--user-data-dir=${profile}`, address], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  void child.stderr.text().then((output) => reject(new Error(`the browser ended:\n${output.slice(-2000)}`)));
  const timer = setTimeout(() => reject(new Error("the page found nothing")), TIMEOUT_MS);
  try {
    const found = await promise;
    if (screenshot !== undefined) await Bun.write(screenshot, await pictureOf(profile, address));
    return found;
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
    await child.exited;
    await server.stop(true);
    rmSync(profile, { recursive: true, force: true });
  }
}

interface Target {
  readonly url: string;
  readonly webSocketDebuggerUrl: string;
}

/** Takes a PNG of the page at this address, with Chromium's own protocol. */
async function pictureOf(profile: string, address: string): Promise<Uint8Array> {
  const file = join(profile, "DevToolsActivePort");
  if (!existsSync(file)) throw new Error("the browser offers no protocol");
  const [port] = readFileSync(file, "utf8").split("\n");
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as Target[];
  const socket = new WebSocket(targets.find(({ url }) => url === address)?.webSocketDebuggerUrl ?? "");
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  socket.addEventListener("open", () => socket.send(JSON.stringify({ id: 1, method: "Page.captureScreenshot" })));
  socket.addEventListener("message", ({ data }) => {
    const { result } = JSON.parse(String(data)) as { result?: { data: string } };
    if (result) resolve(Uint8Array.fromBase64(result.data));
  });
  socket.addEventListener("error", () => reject(new Error("the browser's protocol failed")));
  try {
    return await promise;
  } finally {
    socket.close();
  }
}
