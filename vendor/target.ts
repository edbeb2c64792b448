// The target of the build: this machine's system or, where SVC_TARGET names another one, that, compiled on this machine.

/** Systems that can be compiled for on Linux, and how the names of their compilers begin. */
const CROSS_COMPILERS: Readonly<Record<string, string>> = {
  "windows-x64": "x86_64-w64-mingw32-",
  "linux-arm64": "aarch64-linux-gnu-",
};

const own = `${process.platform}-${process.arch}`;
/** The platform as it appears in the file names of a release. */
export const platform = process.env["SVC_TARGET"] ?? own;
/** Whether this machine cannot run what is built. */
export const isForeign = platform !== own;
/** Why the target cannot be built here; undefined if it can. */
export const wrongTarget =
  isForeign && !(platform in CROSS_COMPILERS)
    ? `SVC_TARGET may be ${[own, ...Object.keys(CROSS_COMPILERS)].join(", ")}.`
    : undefined;

export const forWindows = platform.startsWith("windows");
export const forMac = platform.startsWith("darwin");
export const forArm = platform.endsWith("arm64");

const prefix = isForeign ? (CROSS_COMPILERS[platform] ?? "") : "";
export const compiler = prefix + (forMac ? "clang++" : "g++");

/**
 * Returns how the compiler names its version; an empty text without a compiler. What it compiles may need its own C++
 * runtime or a later one.
 */
export function compilerVersion(): string {
  if (!Bun.which(compiler)) return "";
  const { stdout } = Bun.spawnSync([compiler, "--version"], { stderr: "ignore" });
  return `${compiler} ${stdout.toString().split("\n", 1)[0]}`;
}

/** Suffix of a library's file name. */
export const suffix = forWindows ? "dll" : forMac ? "dylib" : "so";

/**
 * MinGW does not align the stack as AVX moves need it. Bun does not run on Windows older than 10.
 * https://gcc.gnu.org/bugzilla/show_bug.cgi?id=54412
 */
const ASSEMBLER_FLAGS = "-Wa,-muse-unaligned-vector-move,-mbig-obj";
/** An off_t that counts beyond 2 GB, and constants of <cmath> that other systems have anyway. */
const LIKE_POSIX = ["-D_FILE_OFFSET_BITS=64", "-D_USE_MATH_DEFINES"];
const WINDOWS_FLAGS = [ASSEMBLER_FLAGS, "-D_WIN32_WINNT=0x0A00"];
/** For newer Windows versions, ggml's C code needs declarations that Debian 12's MinGW headers lack. */
export const GGML_DEFINES = forWindows ? ["-D_WIN32_WINNT=0x0601"] : [];
/** GCC looks for garbage first when it holds this many KiB: it takes an eighth less time, and more memory. */
const FEWER_COLLECTIONS = "--param=ggc-min-heapsize=500000";
/** Flags for all code in our libraries, including third-party code. */
export const CXX_FLAGS = [
  ...(forMac ? [] : [FEWER_COLLECTIONS]),
  "-std=c++17",
  "-DNDEBUG",
  ...(forWindows ? [...WINDOWS_FLAGS, ...LIKE_POSIX] : ["-fPIC"]),
  "-fvisibility=hidden",
  "-pthread",
];

/** Where a library looks for its siblings: beside itself, as Windows does anyway. */
export const origin = forMac ? "@loader_path" : "$ORIGIN";
export const beside = forWindows ? [] : [`-Wl,-rpath,${origin}`];

/** MinGW's linker adds a table of all symbols, which makes a library half as large again. */
const STRIPPED = "-s";
export const LINK_FLAGS = forMac
  ? ["-dynamiclib", "-Wl,-dead_strip", "-pthread"]
  : ["-shared", "-Wl,--no-undefined", "-Wl,--gc-sections", "-pthread", ...(forWindows ? [STRIPPED] : [])];

/** Libraries that a library with sockets links against. */
export const SOCKETS = forWindows ? ["-lws2_32"] : [];

/** The compiler's C++ runtime, which is shipped with the libraries. */
export const CPP_RUNTIME = forWindows
  ? ["libstdc++-6.dll", "libgcc_s_seh-1.dll", "libwinpthread-1.dll"]
  : forMac
    ? []
    : ["libstdc++.so.6", "libgcc_s.so.1"];

/** CMake options for the target. */
export const CMAKE_OPTIONS: Readonly<Record<string, string>> = forWindows
  ? {
      CMAKE_SYSTEM_NAME: "Windows",
      CMAKE_SYSTEM_PROCESSOR: "x86_64",
      CMAKE_C_COMPILER: `${prefix}gcc`,
      CMAKE_CXX_COMPILER: compiler,
      CMAKE_RC_COMPILER: `${prefix}windres`,
      CMAKE_C_FLAGS: [FEWER_COLLECTIONS, ASSEMBLER_FLAGS, ...GGML_DEFINES].join(" "),
      CMAKE_CXX_FLAGS: [FEWER_COLLECTIONS, ...WINDOWS_FLAGS].join(" "),
      CMAKE_SHARED_LINKER_FLAGS: STRIPPED,
      CMAKE_MODULE_LINKER_FLAGS: STRIPPED,
    }
  : {};
