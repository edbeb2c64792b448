// The only place that reads the process environment.

import { userInfo } from "node:os";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the environment of this process. */
export const processEnvironment = (): Environment => process.env;

/** Returns a copy of the current environment, for programs that must receive the user's environment. */
export const copyOfEnvironment = (): Environment => ({ ...process.env });

/** Defaults NODE_ENV to production. Elysia and Bun read it when loaded: call this before importing them. */
export function setProductionDefault(): void {
  process.env["NODE_ENV"] ??= "production";
}

const LOOPBACK = "localhost,127.0.0.0/8,::1";

/** Adds loopback addresses to no_proxy: else Bun uses a proxy in the environment even for this machine. */
export function keepLoopbackFromProxies(environment: Record<string, string | undefined> = process.env): void {
  // The lower-case variable takes precedence if both are set.
  const given = environment["no_proxy"] || environment["NO_PROXY"];
  environment["no_proxy"] = given ? `${given},${LOOPBACK}` : LOOPBACK;
}

/** Returns the variables for an engine process: for finding libraries and drivers, none that changes what it loads. */
export function engineEnvironment(environment: Environment): Record<string, string> {
  // If this process was started under a sanitizer, for example, its engines must be too.
  const kept =
    /^(PATH|HOME|TMPDIR|LANG|LC_.*|LD_LIBRARY_PATH|LD_PRELOAD|ASAN_OPTIONS|UBSAN_OPTIONS|DYLD_.*|CUDA_.*|NVIDIA_.*|VK_.*|GGML_VK_.*|GGML_CUDA_.*|HIP_.*|ROCR_.*|NODE_ENV|SYSTEMROOT|TEMP|TMP)$/i;
  return keep(environment, kept);
}

/** Returns the environment of a user's program: the user's variables and `more`; an undefined value removes one. */
export function environmentOf(user: Environment, more: Environment): Record<string, string> {
  const environment = environmentWith(user, more);
  keepLoopbackFromProxies(environment);
  return environment;
}

/** Returns the environment with `more`; an undefined value removes a variable. */
export const environmentWith = (user: Environment, more: Environment): Record<string, string> =>
  keep({ ...user, ...more }, /^/);

/** Returns the environment of a host program: variables that it needs to find its files, but no secrets. */
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

/** Returns the user's home folder: HOME, else from the password database; undefined when neither has one. */
export function homeFolder(environment: Environment): string | undefined {
  if (environment["HOME"]) return environment["HOME"];
  try {
    const { homedir } = userInfo();
    return homedir === "" || homedir === "/" ? undefined : homedir;
  } catch {
    return undefined;
  }
}
