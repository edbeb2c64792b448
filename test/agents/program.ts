// Runs a program of one agent as its user would, in a home of its own that knows nothing of this machine's.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programsOf } from "../support/python.ts";

const PROGRAMS = join(import.meta.dir, "node_modules");
/** Where agents stand: opencode's own package would fetch this one for the machine at hand. */
const PATH = [
  join(PROGRAMS, ".bin"),
  join(PROGRAMS, "opencode-linux-x64/bin"),
  programsOf("aider"),
  process.env["PATH"] ?? "",
].join(":");
const SVC = join(import.meta.dir, "../../src/main.ts");
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

  /** What a file below this folder holds. */
  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** A folder below this folder. */
  make(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Runs a file of a package to its end; nothing of this process's own settings reaches it. */
  run(file: string, flags: readonly string[], options: RunOptions = {}): Promise<Run> {
    const path = join(PROGRAMS, file);
    return this.spawn([...(path.endsWith("js") ? ["node", path] : [path]), ...flags], options);
  }

  /** Has `svc launch` run an agent with these arguments against the server at this address. */
  launch(url: string, agent: string, args: readonly string[], options: RunOptions = {}): Promise<Run> {
    const { hostname, port } = new URL(url);
    const svc = [process.execPath, SVC, "launch", agent, "--host", hostname, "--port", port, "--", ...args];
    return this.spawn(svc, { ...options, env: { PATH, ...options.env } });
  }

  /** Whether an agent is installed: not every one is there for every machine, and aider not for every Python. */
  static has(agent: string): boolean {
    return Bun.which(agent, { PATH }) !== null;
  }

  private async spawn(command: readonly string[], { interrupt, env = {} }: RunOptions): Promise<Run> {
    const child = Bun.spawn([...command], {
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
