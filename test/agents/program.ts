// Runs the program of an agent as its user would, in an isolated home folder without any settings of this machine.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programsOf } from "../support/python.ts";

const PROGRAMS = join(import.meta.dir, "node_modules");
/** Folders of the agents' programs, including the binary that opencode's own package would select for this machine. */
const PATH = [
  join(PROGRAMS, ".bin"),
  join(PROGRAMS, "opencode-linux-x64/bin"),
  programsOf("aider"),
  process.env["PATH"] ?? "",
].join(":");
const SVC = join(import.meta.dir, "../../src/main.ts");
/** Longer than any run needs, so a hanging run fails. */
const LIMIT_MS = 600_000;

export interface Run {
  readonly status: number;
  readonly output: string;
  readonly complaints: string;
}

export interface RunOptions {
  /** The program gets an interrupt when this resolves. */
  readonly interrupt?: Promise<unknown>;
  /** Whether svc will refuse a request: then the log may contain complaints, and any exit status is accepted. */
  readonly refused?: true;
  readonly env?: Readonly<Record<string, string>>;
}

/** A folder with a home folder and a working folder. */
export class Workspace {
  private readonly folder: string;
  readonly home: string;
  readonly work: string;

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `svc-${name}-`));
    this.home = this.make("home");
    this.work = this.make("work");
  }

  /** Writes a file in this folder and returns its path. */
  write(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  /** Reads a file in this folder. */
  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Creates a folder in this folder and returns its path. */
  make(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Runs a file of a package to its end, without this process's environment. */
  run(file: string, flags: readonly string[], options: RunOptions = {}): Promise<Run> {
    const path = join(PROGRAMS, file);
    return this.spawn([...(path.endsWith("js") ? ["node", path] : [path]), ...flags], options);
  }

  /** Runs an agent through `svc launch` with these arguments and the server at this URL. */
  launch(url: string, agent: string, args: readonly string[], options: RunOptions = {}): Promise<Run> {
    const { hostname, port } = new URL(url);
    const svc = [process.execPath, SVC, "launch", agent, "--host", hostname, "--port", port, "--", ...args];
    return this.spawn(svc, { ...options, env: { PATH, ...options.env } });
  }

  /** Returns whether an agent is installed: not all support every machine, and aider not every Python. */
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

/** Throws unless the program succeeded. */
export function ended({ status, output, complaints }: Run): void {
  if (status !== 0) throw new Error(`status ${status}\n${output.slice(-2000)}\n${complaints.slice(-2000)}`);
}
