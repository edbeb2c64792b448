// The only place that reads the process environment.

import { userInfo } from "node:os";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process. */
export const processEnvironment = (): Environment => process.env;

/** The same as it is now: for programs that are to have it as the user does. */
export const copyOfEnvironment = (): Environment => ({ ...process.env });

/** Elysia and Bun read NODE_ENV at load and take its absence for development: call this before importing them. */
export function setProductionDefault(): void {
  process.env["NODE_ENV"] ??= "production";
}

const LOOPBACK = "localhost,127.0.0.0/8,::1";

/** Bun asks a proxy that the environment names even for what is on this machine: adds that to what it must not. */
export function keepLoopbackFromProxies(environment: Record<string, string | undefined> = process.env): void {
  // The small letters win where both are there.
  const given = environment["no_proxy"] || environment["NO_PROXY"];
  environment["no_proxy"] = given ? `${given},${LOOPBACK}` : LOOPBACK;
}

/** What an engine process inherits: enough to find libraries and drivers, nothing that would change what it loads. */
export function engineEnvironment(environment: Environment): Record<string, string> {
  // What this process was started under, a sanitizer say, is for its engines, too.
  const kept =
    /^(PATH|HOME|TMPDIR|LANG|LC_.*|LD_LIBRARY_PATH|LD_PRELOAD|ASAN_OPTIONS|UBSAN_OPTIONS|DYLD_.*|CUDA_.*|NVIDIA_.*|VK_.*|GGML_VK_.*|GGML_CUDA_.*|HIP_.*|ROCR_.*|NODE_ENV|SYSTEMROOT|TEMP|TMP)$/i;
  return keep(environment, kept);
}

/** What a program of the user's is started with: all that it would have without this one, and these; none where undefined. */
export function environmentOf(user: Environment, more: Environment): Record<string, string> {
  const environment = keep({ ...user, ...more }, /^/);
  keepLoopbackFromProxies(environment);
  return environment;
}

/** What a program of the host is started with: where its own files are, and nobody's keys. */
export function programEnvironment(environment: Environment): Record<string, string> {
  const kept =
    /^(PATH|PATHEXT|HOME|LANG|LC_.*|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|SYSTEMROOT|SYSTEMDRIVE|WINDIR|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMDATA|PSMODULEPATH)$/i;
  return keep(environment, kept);
}

const keep = (environment: Environment, names: RegExp): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => names.test(entry[0]) && entry[1] !== undefined,
    ),
  );

/** The user's home folder: HOME, else the password database; undefined when neither knows one. */
export function homeFolder(environment: Environment): string | undefined {
  if (environment["HOME"]) return environment["HOME"];
  try {
    const { homedir } = userInfo();
    return homedir === "" || homedir === "/" ? undefined : homedir;
  } catch {
    return undefined;
  }
}
