// Builds the llama library set: prebuilt llama.cpp libraries, and our shim compiled with llama.cpp's headers.

import { copyFileSync, existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { fetchPackage, type PinnedPackage } from "./fetch.ts";
import { compileRpcBackend, rpcFingerprint } from "./rpc.ts";
import { BuildError, filesIn, fingerprint, makeCurrent, makeFolder, place, requireTools, run, step } from "./run.ts";
import { flavourFlags, llamaOptions } from "./sanitizers.ts";
import { compileShim, linkedLibraries, shimFingerprint } from "./shim.ts";
import {
  CMAKE_OPTIONS,
  compiler,
  compilerVersion,
  CPP_RUNTIME,
  isForeign,
  origin,
  platform,
  SOCKETS,
} from "./target.ts";
import versions from "./versions.json" with { type: "json" };

export const flavours = ["cpu", "cuda", "vulkan", "metal", "sanitize"] as const;
export type Flavour = (typeof flavours)[number];
export const usualFlavour: Flavour = platform === "darwin-arm64" ? "metal" : "cpu";

export interface LlamaBuild {
  /** Checked-out llama.cpp sources of the pinned version. */
  readonly sources: string;
  /** The finished set: llama.cpp, ggml, compute backends, the shim, and the C++ runtime where it must be shipped. */
  readonly libraries: string;
}

const out = join(import.meta.dir, ".build");
/** On macOS, compute backends end in .so as well. */
const LIBRARY = /\.(so|dylib|dll)$/;
/**
 * Builds the set and makes it the one that development runs use. Does nothing when the same versions, sources and flags
 * were built before. Throws BuildError when a tool is missing or a step fails.
 */
export async function buildLlama(flavour: Flavour): Promise<LlamaBuild> {
  const libraries = join(out, "lib", `${flavour}-${versionOf(flavour)}`);
  const pin = prebuiltPackage(flavour);
  // Check this before a minute is spent on downloads.
  if (!existsSync(libraries)) requireTools([compiler, "git", "npm", "tar", ...(pin ? [] : ["cmake"])]);
  const [sources, prebuilt] = await Promise.all([checkOutSources(), pin && unpackedLibraries(pin)]);
  if (!existsSync(libraries)) {
    const from = prebuilt ?? (await compileLlama(sources, flavour));
    await step("compiled the llama shim", () =>
      makeFolder(libraries, async (temporary) => {
        for (const path of filesIn(from, LIBRARY)) place(realpathSync(path), join(temporary, basename(path)));
        // `src` is for the private headers that some files of ffi/llama include.
        const includes = ["include", "ggml/include", "ggml/src", "common", "src"].map((folder) =>
          join(sources, folder),
        );
        const flags = flavourFlags(flavour);
        const parts = [...linkedLibraries(temporary), ...SOCKETS];
        await Promise.all([
          compileShim({ name: "llama", includes, parts, flags }, temporary),
          compileRpcBackend(sources, flags, temporary),
        ]);
        // Copies, not links: nothing here may ever write to a system file.
        for (const file of await cppRuntime()) copyFileSync(realpathSync(file), join(temporary, basename(file)));
      }),
    );
  }
  // What runs from source use, or a link of another name to a set for another system.
  makeCurrent(join(out, "lib"), basename(libraries), isForeign ? platform : "current");
  writeFileSync(join(out, ".gitignore"), "*\n");
  return { sources, libraries };
}

async function checkOutSources(): Promise<string> {
  const target = join(out, `llama.cpp-${versions["llama.cpp"]}`);
  if (existsSync(target)) return target;
  const { bundle, ...pin } = versions.sources;
  const folder = await fetchPackage(pin, join(out, "packages"));
  await step(`unpacked the sources of llama.cpp ${versions["llama.cpp"]}`, () =>
    makeFolder(target, async (temporary) => {
      await run(["git", "-c", "advice.detachedHead=false", "clone", "--quiet", join(folder, bundle), temporary]);
    }),
  );
  return target;
}

/**
 * Returns the package with the prebuilt libraries, or undefined where they are compiled. Throws BuildError when the
 * system has no such flavour.
 */
export function prebuiltPackage(flavour: Flavour, system = platform): PinnedPackage | undefined {
  const found = librariesOf(flavour, system);
  if (found) return found === "compiled" ? undefined : found;
  const others = flavours.filter((other) => librariesOf(other, system));
  throw new BuildError(
    `There are no llama.cpp libraries of the flavour ${flavour} for ${system}. Its flavours: ${others.join(", ")}.`,
  );
}

/** Returns where a system's libraries of this flavour come from; undefined if it has none. */
function librariesOf(flavour: Flavour, system: string): PinnedPackage | "compiled" | undefined {
  const pins: Readonly<Record<string, PinnedPackage | undefined>> = versions.prebuilt;
  switch (flavour) {
    case "sanitize":
      return "compiled";
    case "metal":
      return system.startsWith("darwin") ? "compiled" : undefined;
    case "cpu":
      return pins[system] ?? (/^(darwin|windows)/.test(system) ? "compiled" : undefined);
    default:
      return pins[`${system}-${flavour}`];
  }
}

/** Returns the folder with the libraries of the package, downloaded if it is not there yet. */
async function unpackedLibraries(pin: PinnedPackage): Promise<string> {
  const folder = join(await fetchPackage(pin, join(out, "packages")), "bins");
  return join(folder, readdirSync(folder)[0] ?? "");
}

/** Builds llama.cpp from its pinned sources, where no prebuilt libraries exist: minutes instead of seconds. */
async function compileLlama(sources: string, flavour: Flavour): Promise<string> {
  const options = {
    CMAKE_BUILD_TYPE: "Release",
    CMAKE_BUILD_WITH_INSTALL_RPATH: "ON",
    CMAKE_INSTALL_RPATH: origin,
    BUILD_SHARED_LIBS: "ON",
    GGML_BACKEND_DL: "ON",
    GGML_CPU_ALL_VARIANTS: "ON",
    GGML_NATIVE: "OFF",
    GGML_OPENMP: "OFF",
    GGML_METAL: flavour === "metal" ? "ON" : "OFF",
    GGML_METAL_EMBED_LIBRARY: "ON",
    LLAMA_OPENSSL: "OFF",
    ...CMAKE_OPTIONS,
    ...llamaOptions(flavour),
    ...Object.fromEntries(
      ["APP", "EXAMPLES", "SERVER", "TESTS", "TOOLS"].map((part) => [`LLAMA_BUILD_${part}`, "OFF"]),
    ),
  };
  // CMake refuses a folder that it made for other sources.
  const id = fingerprint([versions["llama.cpp"], compilerVersion(), options]);
  const build = join(out, `llama.cpp-build-${platform}-${flavour}-${id}`);
  const defines = Object.entries(options).map(([name, value]) => `-D${name}=${value}`);
  await step("compiled llama.cpp, which takes minutes", async () => {
    await run(["cmake", "-S", sources, "-B", build, ...defines]);
    await run(["cmake", "--build", build, "--parallel", String(availableParallelism())]);
  });
  return join(build, "bin");
}

/**
 * Returns the files of the compiler's C++ runtime, so that the set also loads on a machine with an older one or none.
 */
async function cppRuntime(): Promise<string[]> {
  return Promise.all(CPP_RUNTIME.map(async (name) => (await run([compiler, `-print-file-name=${name}`])).trim()));
}

function versionOf(flavour: Flavour): string {
  const ours = [platform, flavour, flavourFlags(flavour), llamaOptions(flavour), CMAKE_OPTIONS, CPP_RUNTIME];
  const self = readFileSync(import.meta.path, "utf8");
  return fingerprint([versions, ...ours, self, shimFingerprint("llama"), rpcFingerprint()]);
}
