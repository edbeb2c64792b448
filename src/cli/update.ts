// `svc update`: replaces this executable with the newest release; this never happens unless the user asks for it.

import { accessSync, constants, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config/config.ts";
import { processEnvironment, programEnvironment } from "../config/environment.ts";
import { newestFile, releasedFile } from "../config/releases.ts";
import { build, userAgent, version, type Build } from "../config/version.ts";
import { ProgramError, programOutput } from "../engine/process/program.ts";
import { getText } from "../store/models/http-client.ts";
import { PullError } from "../store/models/pull-error.ts";
import { defaultPatience, type RetryOptions } from "../store/models/retry.ts";
import { fetchReleaseFile } from "../store/release-file.ts";
import type { FlagsOf } from "./commands.ts";
import { runDownload } from "./download-command.ts";
import type { DownloadLine } from "./download-line.ts";
import { ExitError } from "./exit-codes.ts";

const isWindows = process.platform === "win32";
const CHECKSUMS = "SHA256SUMS";
const MOST_CHECKSUMS = 100_000;
/** Limits for programs that are run: bytes of output, and milliseconds for the version, the self-test and tar. */
const MOST_OUTPUT = 10_000;
const MOST_MS = { version: 60_000, selfTest: 300_000, unpack: 600_000 };

interface Archive {
  readonly version: string;
  readonly file: string;
  readonly sha256: string;
}

/** Replaces this executable with the newest; --check only reports it. Throws ExitError. */
export function update(config: Config, { check }: FlagsOf<"update">): Promise<void> {
  const executable = process.execPath;
  const own = build;
  if (!own) throw new ExitError("usage", "svc update is for released executables; this one runs from source.");
  if (!check) expectOwn(executable);
  return runDownload({
    config,
    onInterrupt: "This svc was not changed.",
    async work(progress, signal) {
      const newest = await newestArchive(config, own, {
        patience: defaultPatience,
        signal,
        note: (text) => progress.note(text),
      });
      if (Bun.semver.order(newest.version, version) <= 0) return `svc ${version} is the newest release.`;
      if (check) return `svc ${newest.version} is available; this is ${version}. Install it with: svc update`;
      await replace(executable, newest, config, progress, signal);
      return `svc ${newest.version} has replaced ${version}: ${executable}. Restart running servers to use it.`;
    },
  });
}

/** Returns whether a package manager installed this executable: Linux's, Homebrew, Scoop or winget. */
export const isPackaged = (executable: string): boolean =>
  /^\/usr\/bin\/[^/]+$|[\\/](Cellar|scoop[\\/]apps|WinGet[\\/]Packages)[\\/]/i.test(executable);

/** Throws ExitError when a package manager owns the executable, or its folder is not writable. */
function expectOwn(executable: string): void {
  const folder = dirname(executable);
  if (isPackaged(executable)) {
    throw new ExitError("usage", `${executable} was installed by a package manager: update svc with that.`);
  }
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    throw new ExitError("failure", `${folder} cannot be written: run svc update as its owner.`);
  }
}

/** Finds the newest release's archive for an executable. Throws PullError, or the signal's reason. */
export async function newestArchive(
  config: Pick<Config, "releases">,
  { name, platform }: Build,
  options: RetryOptions,
): Promise<Archive> {
  const url = addressed(newestFile(config, CHECKSUMS));
  const wanted = { subject: CHECKSUMS, most: MOST_CHECKSUMS };
  const { text } = await getText({ endpoint: new URL(url).origin, userAgent }, url, wanted, options);
  const archive = archiveIn(text, name, platform);
  if (!archive) throw new PullError(`The newest release has no ${name} for ${platform}.`);
  return archive;
}

/** Finds the archive of an executable in the lines of SHA256SUMS. */
export function archiveIn(checksums: string, name: string, platform: string): Archive | undefined {
  for (const line of checksums.split("\n")) {
    const [, sha256 = "", file = "", found = "", rest = ""] =
      /^([0-9a-f]{64}) [ *]((svc(?:-slim)?)-(\d[\w.-]*)\.(?:tar\.xz|zip))$/.exec(line) ?? [];
    if (found === name && rest.endsWith(`-${platform}`)) {
      return { sha256, file, version: rest.slice(0, -platform.length - 1) };
    }
  }
  return undefined;
}

function addressed(url: string | undefined): string {
  if (url !== undefined) return url;
  throw new PullError(
    "This svc was built from source: build the newer one, or name the address of releases with --releases.",
  );
}

/** Replaces the executable atomically, after the new one has run: svc can be started at any time meanwhile. */
async function replace(
  executable: string,
  { version: newVersion, file, sha256 }: Archive,
  config: Config,
  progress: DownloadLine,
  signal: AbortSignal,
): Promise<void> {
  const url = addressed(releasedFile(config, file, newVersion));
  const folder = mkdtempSync(join(dirname(executable), ".svc-update-"));
  try {
    const archive = join(folder, file);
    await fetchReleaseFile({ url, sha256 }, archive, () => existsSync(archive), {
      userAgent,
      signal,
      progress: (received) => progress.showDownload({ name: file, received, waiting: false }),
      note: (text) => progress.note(text),
    });
    await unpack(archive, folder, signal);
    const unpacked = join(folder, isWindows ? "svc.exe" : "svc");
    await expectRunning(unpacked, newVersion, folder, signal);
    if (isWindows) setAside(executable);
    renameSync(unpacked, executable);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Windows lets a program that is running be renamed, but neither replaced nor deleted: the next update deletes it. */
function setAside(executable: string): void {
  const former = `${executable}.old`;
  try {
    rmSync(former, { force: true });
    renameSync(executable, former);
  } catch {
    throw new PullError(`${former} is in use: stop the servers that run it, then repeat svc update.`);
  }
}

/** Unpacks with the host's tar, since Bun does not read xz. */
async function unpack(archive: string, folder: string, signal: AbortSignal): Promise<void> {
  try {
    // Windows' own tar unpacks zip as well; another one on PATH may not, and takes C: for the name of a machine.
    const tar = isWindows ? join(processEnvironment()["SYSTEMROOT"] ?? "C:/Windows", "System32/tar.exe") : "tar";
    await outputOf([tar, "-xf", archive, "-C", folder, "--strip-components", "1"], {
      mostMs: MOST_MS.unpack,
      signal,
    });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new PullError("The archive cannot be unpacked: tar, xz and disk space for the executable are needed.");
  }
}

interface RunLimits {
  readonly mostMs: number;
  readonly signal: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
}

const outputOf = (command: readonly string[], { mostMs, signal, env = {} }: RunLimits): Promise<Uint8Array> => {
  const given = programEnvironment(processEnvironment());
  return programOutput(command, { mostBytes: MOST_OUTPUT, mostMs, env: { ...given, ...env } }, signal);
};

/**
 * Throws PullError unless the executable prints its version and passes its self-test of chats, which loads the native
 * libraries: they need more of the host than the executable does. What else it can do must not keep it from being installed.
 */
export async function expectRunning(
  path: string,
  expected: string,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  // A home of its own keeps the user's options and caches out of the test.
  const env = { HOME: folder, APPDATA: folder, LOCALAPPDATA: folder };
  let reason = "does not run on this machine";
  try {
    const output = await outputOf([path, "--version"], { mostMs: MOST_MS.version, signal, env });
    if (new TextDecoder().decode(output).startsWith(`svc ${expected} (`)) {
      await outputOf([path, "self-test", "--chats"], { mostMs: MOST_MS.selfTest, signal, env });
      return;
    }
  } catch (error) {
    const printed = error instanceof ProgramError ? new TextDecoder().decode(error.output) : "";
    const failed = /^FAIL +(.*?)\.?$/m.exec(printed)?.[1];
    if (failed !== undefined) reason = `fails its self-test on this machine (${failed})`;
  }
  signal.throwIfAborted();
  throw new PullError(`svc ${expected} ${reason}; nothing was changed.`);
}
