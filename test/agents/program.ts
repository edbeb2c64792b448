// Runs a program of one agent as its user would, in a home of its own that knows nothing of this machine's.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAMS = join(import.meta.dir, "node_modules");
/** Longer than any run needs; what hangs fails. */
const LIMIT_MS = 600_000;

export interface Run {
  readonly status: number;
  readonly output: string;
  readonly complaints: string;
}

export interface RunOptions {
  /** Sends an interrupt when this resolves. */
  readonly interrupt?: Promise<unknown>;
  /** svc refuses something on purpose: its log may complain, and it may end as it likes. */
  readonly refused?: true;
  readonly env?: Readonly<Record<string, string>>;
}

/** A folder with a home and a place to work in. */
export class Workspace {
  private readonly folder: string;
  readonly home: string;
  readonly work: string;

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `svc-${name}-`));
    this.home = this.make("home");
    this.work = this.make("work");
  }

  /** A file below this folder, named from it. */
  write(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  /** A folder below this folder. */
  make(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Runs a file of a package to its end; nothing of this process's own settings reaches it. */
  async run(file: string, flags: readonly string[], { interrupt, env = {} }: RunOptions = {}): Promise<Run> {
    const path = join(PROGRAMS, file);
    const child = Bun.spawn([...(path.endsWith("js") ? ["node", path] : [path]), ...flags], {
      cwd: this.work,
      env: { PATH: process.env["PATH"] ?? "", HOME: this.home, DO_NOT_TRACK: "1", TERM: "dumb", ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: LIMIT_MS,
    });
    void interrupt?.then(() => child.kill("SIGINT"));
    const [output, complaints] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { status: await child.exited, output, complaints };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Throws unless it ended well. */
export function ended({ status, output, complaints }: Run): void {
  if (status !== 0) throw new Error(`status ${status}\n${output.slice(-2000)}\n${complaints.slice(-2000)}`);
}
