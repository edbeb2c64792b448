// A Python environment of its own for each file of pins, created when they change. Needs Python 3 with venv.

import { join } from "node:path";

const BUILT = join(import.meta.dir, "../../vendor/.build/python");

/** Where the programs of an environment are, made or not. */
export const programsOf = (name: string): string => join(BUILT, name, "bin");

/** The folder of programs (`python` among them) of an environment with these exact pins. Throws when it cannot be made. */
export async function pythonWith(requirements: string, name: string): Promise<string> {
  const pins = await Bun.file(requirements).text();
  const folder = join(BUILT, name);
  const programs = programsOf(name);
  const marker = Bun.file(join(folder, "installed.txt"));
  if ((await marker.exists()) && (await marker.text()) === pins) return programs;
  await run(["python3", "-m", "venv", "--clear", folder]);
  const pip = [join(programs, "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
  await run([...pip, "-r", requirements]);
  await marker.write(pins);
  return programs;
}

async function run(command: readonly string[]): Promise<void> {
  const status = await Bun.spawn([...command], { stdin: "ignore", stdout: "inherit", stderr: "inherit" }).exited;
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}`);
}
