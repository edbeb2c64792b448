// What is built for: the system of this machine, or where SVC_TARGET is windows-x64, Windows, by a compiler of this machine.

export const forWindows = process.env["SVC_TARGET"] === "windows-x64";
export const forMac = !forWindows && process.platform === "darwin";
/** As files of a release have it in their names. */
export const platform = forWindows ? "windows-x64" : `${process.platform}-${process.arch}`;

const MINGW = "x86_64-w64-mingw32";
export const compiler = forWindows ? `${MINGW}-g++` : forMac ? "clang++" : "g++";
/** Of a library's name. */
export const suffix = forWindows ? "dll" : forMac ? "dylib" : "so";

/**
 * MinGW keeps no stack aligned as wide as AVX moves want it, and older Windows than 10 is none that Bun runs on.
 * https://gcc.gnu.org/bugzilla/show_bug.cgi?id=54412
 */
const ASSEMBLER_FLAGS = "-Wa,-muse-unaligned-vector-move,-mbig-obj";
const WINDOWS_FLAGS = [ASSEMBLER_FLAGS, "-D_WIN32_WINNT=0x0A00"];
/** Of all code in our libraries, also that of others. */
export const CXX_FLAGS = [
  "-std=c++17",
  "-DNDEBUG",
  ...(forWindows ? WINDOWS_FLAGS : ["-fPIC"]),
  "-fvisibility=hidden",
  "-pthread",
];

/** Where a library looks for its siblings: beside itself, which Windows does anyway. */
export const origin = forMac ? "@loader_path" : "$ORIGIN";
export const beside = forWindows ? [] : [`-Wl,-rpath,${origin}`];

export const LINK_FLAGS = forMac
  ? ["-dynamiclib", "-Wl,-dead_strip", "-pthread"]
  : ["-shared", "-Wl,--no-undefined", "-Wl,--gc-sections", "-pthread"];

/** What a library that opens sockets links against. */
export const SOCKETS = forWindows ? ["-lws2_32"] : [];

/** The compiler's C++ runtime, which travels with the libraries. */
export const CPP_RUNTIME = forWindows
  ? ["libstdc++-6.dll", "libgcc_s_seh-1.dll", "libwinpthread-1.dll"]
  : forMac
    ? []
    : ["libstdc++.so.6", "libgcc_s.so.1"];

/** What CMake has to know of it. */
export const CMAKE_OPTIONS: Readonly<Record<string, string>> = forWindows
  ? {
      CMAKE_SYSTEM_NAME: "Windows",
      CMAKE_SYSTEM_PROCESSOR: "x86_64",
      CMAKE_C_COMPILER: `${MINGW}-gcc`,
      CMAKE_CXX_COMPILER: compiler,
      CMAKE_RC_COMPILER: `${MINGW}-windres`,
      // ggml's C asks for what Debian 12's headers of MinGW lack where Windows is newer than this.
      CMAKE_C_FLAGS: `${ASSEMBLER_FLAGS} -D_WIN32_WINNT=0x0601`,
      CMAKE_CXX_FLAGS: WINDOWS_FLAGS.join(" "),
      // One, for processors with AVX2: all of them take MinGW twice as long as all the rest.
      GGML_CPU_ALL_VARIANTS: "OFF",
    }
  : {};
