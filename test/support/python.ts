// Creates a Python environment for each requirements file, and again when that file changes. Needs Python 3 with
// venv.

import { join } from "node:path";

const BUILT = join(import.meta.dir, "../../vendor/.build/python");

/** Returns the folder of an environment's programs, whether or not it exists. */
export const programsOf = (name: string): string => join(BUILT, name, "bin");

/**
 * Returns the folder with the programs (including `python`) of an environment with exactly these pins. Throws when
 * the environment cannot be created.
 */
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
