import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { engineEnvironment, homeFolder } from "../../src/config/environment.ts";
import { UsageError } from "../../src/config/parse.ts";
import { defaultConfigFile, defaultPaths } from "../../src/config/paths.ts";
import { sharedFolder } from "../support/folders.ts";

describe("home folders", () => {
  test("XDG folders have priority, unless they are relative", () => {
    const environment = { HOME: "/home/ada", XDG_CACHE_HOME: "/var/cache", XDG_DATA_HOME: "data", XDG_CONFIG_HOME: "" };
    expect(defaultPaths(environment)).toEqual({
      cacheDir: "/var/cache/svc",
      dataDir: "/home/ada/.local/share/svc",
    });
    expect(defaultConfigFile(environment)).toBe("/home/ada/.config/svc/config.toml");
  });

  test("on Windows they are where its programs keep such files", () => {
    const system = { home: "/users/ada", temporary: "/tmp", isWindows: true };
    const environment = { LOCALAPPDATA: "/users/ada/Local", XDG_DATA_HOME: "/elsewhere" };
    expect(defaultPaths(environment, system)).toEqual({
      cacheDir: "/users/ada/Local/svc/cache",
      dataDir: "/users/ada/Local/svc/data",
    });
    expect(defaultConfigFile(environment, system)).toBe("/users/ada/AppData/Roaming/svc/config.toml");
  });

  test("with an empty environment the home folder comes from the password database", () => {
    const { homedir } = userInfo();
    if (homedir !== "/") expect(homeFolder({})).toBe(homedir);
    expect(isAbsolute(defaultPaths({}).cacheDir)).toBe(true);
  });
});

describe("without a home folder", () => {
  const temporary = sharedFolder();
  const paths = () => defaultPaths({}, { home: undefined, temporary, isWindows: false });

  test("a folder of this user in the temporary folder is used", () => {
    expect(paths().cacheDir).toBe(join(temporary, `svc-${userInfo().uid}`));
  });

  test("a folder that others can write to is refused, because libraries are loaded from it", () => {
    const folder = join(temporary, `svc-${userInfo().uid}`);
    mkdirSync(folder, { mode: 0o700 });
    expect(paths().cacheDir).toBe(folder);
    chmodSync(folder, 0o777);
    expect(paths).toThrow("--cache-dir");
  });

  test("a temporary folder that is none is refused with the options that name others", () => {
    const file = join(temporary, "file");
    writeFileSync(file, "");
    const unusable = () => defaultPaths({}, { home: undefined, temporary: file, isWindows: false });
    expect(unusable).toThrow(UsageError);
    expect(unusable).toThrow("a folder of its path is a file. Name folders with --cache-dir and --data-dir.");
  });
});

test("the engine inherits neither backend paths nor runtime options", () => {
  const inherited = engineEnvironment({
    PATH: "/bin",
    CUDA_VISIBLE_DEVICES: "0",
    LD_PRELOAD: "/lib/allocator.so",
    GGML_BACKEND_PATH: "/tmp/evil.so",
    BUN_OPTIONS: "--inspect",
    SVC_PORT: "1",
    API_KEY: "secret",
  });
  expect(inherited).toEqual({ PATH: "/bin", CUDA_VISIBLE_DEVICES: "0", LD_PRELOAD: "/lib/allocator.so" });
});
