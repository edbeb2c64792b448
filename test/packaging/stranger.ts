// `bun test/packaging/stranger.ts`: a stranger's path, from the files of a release to the first streamed token, in a
// system that has nothing but a shell, curl and xz. Prints Markdown rows. Needs `npm run package`, root and debootstrap.
//   --root DIR     a system made by debootstrap before; default: makes one, which downloads 60 MB

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { RELEASE } from "../../packaging/package.ts";
import { fill } from "../../packaging/template.ts";
import { freePort } from "../support/free-port.ts";
import packageJson from "../../package.json" with { type: "json" };

const { values } = parseArgs({ options: { root: { type: "string" } } });
const { version } = packageJson;
/** Another server may run here, and the system shares the network of this machine. */
const PORT = await freePort();
/** An ordinary user of the new system. */
const USER = 1000;
const PATIENCE_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), "svc-stranger-"));
const base = values.root ?? join(folder, "base");

/** Serves the files of this machine's platform as a release; counts what is downloaded. */
function serveRelease() {
  let bytes = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const name = new URL(request.url).pathname.split("/").at(-1) ?? "";
      const made: Readonly<Record<string, () => string>> = {
        "install.sh": () => fill("install.sh", { releases: new URL("/", request.url).href.slice(0, -1) }),
        SHA256SUMS: checksums,
      };
      const body = made[name]?.() ?? Bun.file(join(RELEASE, name));
      bytes += typeof body === "string" ? body.length : body.size;
      return new Response(body);
    },
  });
  return { url: server.url.href.slice(0, -1), taken: () => bytes, stop: () => server.stop(true) };
}

const checksums = (): string =>
  readdirSync(RELEASE)
    .filter((name) => name.endsWith(".tar.xz"))
    .map((name) => `${sha256(join(RELEASE, name))}  ${name}\n`)
    .join("");

const sha256 = (path: string): string => Bun.spawnSync(["sha256sum", path]).stdout.toString().slice(0, 64);

async function run(command: readonly string[]): Promise<void> {
  const code = await Bun.spawn([...command], { stdio: ["ignore", "ignore", "inherit"] }).exited;
  if (code !== 0) throw new Error(`${command[0]} ended with code ${code}`);
}

/** A fresh copy of the system: what is written goes to a layer of its own. */
class System {
  private readonly layers: string;

  constructor(name: string) {
    this.layers = join(folder, name);
    for (const layer of ["upper", "work", "merged"]) mkdirSync(join(this.layers, layer), { recursive: true });
    mkdirSync(join(this.layers, "upper/home/stranger"), { recursive: true });
    Bun.spawnSync(["chown", `${USER}:${USER}`, join(this.layers, "upper/home/stranger")]);
  }

  /** Runs a shell script in the system, as the stranger or as root. */
  start(script: string, user = USER): Bun.Subprocess<"pipe"> {
    const { layers } = this;
    const mount = `mount -t overlay overlay -o lowerdir=${base},upperdir=${layers}/upper,workdir=${layers}/work ${layers}/merged`;
    const proc = `mount -t proc proc ${layers}/merged/proc && mount -t tmpfs tmpfs ${layers}/merged/tmp`;
    const home = user === 0 ? "/root" : "/home/stranger";
    const path = `${home}/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
    const enter = [
      "chroot",
      `--userspec=${user}:${user}`,
      `${layers}/merged`,
      "env",
      "-i",
      `HOME=${home}`,
      `PATH=${path}`,
    ];
    return Bun.spawn(
      [
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "sh",
        "-ec",
        `${mount}; ${proc}; exec "$@"`,
        "sh",
        ...enter,
        "sh",
        "-ec",
        `cd; ${script}`,
      ],
      { stdio: ["pipe", "ignore", "inherit"] },
    );
  }

  /** Returns the bytes of what was written below a folder of the system. */
  written(path: string): number {
    const all = join(this.layers, "upper", path);
    if (!existsSync(all)) return 0;
    const names = readdirSync(all, { recursive: true, withFileTypes: true });
    return names
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  }
}

/** Returns the seconds from now until the first text of a streamed answer. */
async function firstToken(): Promise<number> {
  const started = performance.now();
  const body = JSON.stringify({
    stream: true,
    messages: [{ role: "user", content: "What is the capital of France?" }],
  });
  const headers = { "content-type": "application/json" };
  while (performance.now() - started < PATIENCE_MS) {
    const response = await fetch(`http://127.0.0.1:${PORT}/v1/chat/completions`, {
      method: "POST",
      headers,
      body,
    }).catch(() => undefined);
    if (!response?.ok || !response.body) {
      await Bun.sleep(5);
      continue;
    }
    let text = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (/"content":"[^"]/.test(text)) return (performance.now() - started) / 1000;
    }
    throw new Error(`the answer has no text: ${text}`);
  }
  throw new Error("no answer came");
}

const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);
const row = (...cells: readonly (string | number)[]) => console.log(`| ${cells.join(" | ")} |`);

const ways = [
  ["svc, installer", "svc", ".tar.xz"],
  ["svc-slim, installer", "svc-slim", ".tar.xz"],
  ["svc, deb", "svc", ".deb"],
  ["svc-slim, deb", "svc-slim", ".deb"],
] as const;

/** Installs and starts svc each way, and prints a row for it. */
async function measure(): Promise<void> {
  if (!existsSync(base)) {
    await run(["debootstrap", "--variant=minbase", "--include=curl,ca-certificates,xz-utils", "bookworm", base]);
  }
  row(
    "what",
    "downloaded, MB",
    "installed after, s",
    "first token of the first start after, s",
    "of the second, s",
    "unpacked, MB",
  );
  row("---", "---", "---", "---", "---", "---");
  for (const [way, name, ending] of ways) {
    const file = readdirSync(RELEASE).find(
      (found) => found.startsWith(`${name}-${version}-`) && found.endsWith(ending),
    );
    if (file === undefined) {
      console.log(`left out: ${way}: ${RELEASE} has no such file`);
      continue;
    }
    const system = new System(way.replaceAll(/\W+/g, "-"));
    const release = serveRelease();
    try {
      const slim = name === "svc-slim" ? "SVC_SLIM=1 " : "";
      const isDeb = ending === ".deb";
      const script = isDeb
        ? `curl -fsSLO ${release.url}/${file} && dpkg -i ${file} && rm ${file}`
        : `curl -fsSL ${release.url}/latest/download/install.sh | ${slim}sh`;
      const started = performance.now();
      const code = await system.start(script, isDeb ? 0 : USER).exited;
      if (code !== 0) throw new Error(`${way}: installing ended with code ${code}`);
      const installed = (performance.now() - started) / 1000;
      const starts = [];
      for (let start = 0; start < 2; start++) {
        // The shell is the first process of its own process namespace: all others end with it.
        const server = system.start(`svc --port ${PORT} --quiet & read -r _ || true`);
        try {
          starts.push((await firstToken()).toFixed(2));
        } finally {
          await server.stdin.end();
          await server.exited;
        }
      }
      const unpacked = system.written("home/stranger/.cache/svc");
      row(way, mb(release.taken()), installed.toFixed(1), ...starts, mb(unpacked));
    } finally {
      release.stop();
    }
  }
}

try {
  await measure();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
