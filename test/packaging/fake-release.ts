// A folder of releases, served on this machine in GitHub's layout, whose executables are shell scripts that print a
// version.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fill } from "../../packaging/template.ts";

const COMPLETIONS = ["completions/svc.bash", "completions/_svc", "completions/svc.fish"];

interface FakeArchive {
  readonly name: string;
  readonly version: string;
  readonly platform: string;
  /** The output of the executable in place of its version. */
  readonly says?: string;
  /** Whether the self-test fails. */
  readonly fails?: boolean;
  /** A command for everything that the executable does other than printing its version. */
  readonly runs?: string;
  /** Whether the executable must not be executed, as in a folder without execution. */
  readonly runsNowhere?: boolean;
}

export interface FakeRelease extends AsyncDisposable {
  /** The value for SVC_RELEASES. */
  readonly url: string;
  /** A folder that is initially empty and is removed at the end. */
  readonly folder: string;
  /** Paths that were requested. */
  readonly requests: string[];
  /** Publishes an archive as the newest release. */
  publish(archive: FakeArchive): Promise<void>;
  /** Damages all bytes sent from now on. */
  damage(): void;
}

export function fakeRelease(): FakeRelease {
  const folder = mkdtempSync(join(tmpdir(), "svc-fake-release-"));
  const files = new Map<string, Uint8Array>();
  const requests: string[] = [];
  let isDamaged = false;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url);
      requests.push(pathname);
      const content = files.get(pathname);
      if (!content) return new Response("", { status: 404 });
      const sent = Buffer.from(content);
      if (isDamaged && pathname.endsWith(".tar.xz")) sent.fill(0, sent.length - 20);
      return new Response(sent);
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    folder,
    requests,
    async publish({
      name,
      version,
      platform,
      says = `svc ${version} (0123abc)`,
      fails = false,
      runs = ":",
      runsNowhere = false,
    }) {
      const rest = fails ? '[ "$1" != self-test ]' : runs;
      const executable = `#!/bin/sh\n[ "$1" = serve ] || echo "${says}"\n[ "$1" = --version ] || ${rest}\n`;
      const top = `${name}-${version}-${platform}`;
      const source = join(folder, "archives", top);
      mkdirSync(join(source, "completions"), { recursive: true });
      writeFileSync(join(source, "svc"), executable, { mode: runsNowhere ? 0o644 : 0o755 });
      for (const file of ["svc.1.gz", ...COMPLETIONS]) writeFileSync(join(source, file), file);
      const file = `${top}.tar.xz`;
      const made = Bun.spawnSync(["tar", "-cJf", "-", "-C", join(folder, "archives"), top]);
      const sha256 = new Bun.CryptoHasher("sha256").update(made.stdout).digest("hex");
      const line = new TextEncoder().encode(`${sha256}  ${file}\n`);
      const listed = files.get(`/download/v${version}/SHA256SUMS`) ?? new Uint8Array();
      const sums = Buffer.concat([listed, line]);
      files.set(`/download/v${version}/${file}`, made.stdout);
      const installer = new TextEncoder().encode(fill("install.sh", { releases: url }));
      for (const path of [`/download/v${version}`, "/latest/download"]) {
        files.set(`${path}/SHA256SUMS`, sums).set(`${path}/install.sh`, installer);
      }
    },
    damage: () => void (isDamaged = true),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
