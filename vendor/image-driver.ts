// Builds the program that image benchmarks compare with: the same library, through its public functions alone.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, makeFolder, run, step } from "./run.ts";
import { compiler } from "./target.ts";
import { compileSdUnit, compileStableDiffusion, MAIN_FLAGS, mainWith } from "./stable-diffusion.ts";

const out = join(import.meta.dir, ".build/image");
const driver = join(import.meta.dir, "../test/bench/image-driver.cpp");
const vocabularies = join(import.meta.dir, "../ffi/image/vocabularies.cpp");

/** Builds the program and returns its path. Takes a minute the first time. Throws BuildError when a step fails. */
export async function buildImageDriver(): Promise<string> {
  const { objects, sources, id } = await compileStableDiffusion();
  const target = join(out, `driver-${fingerprint([id, readFileSync(driver, "utf8")])}`);
  if (!existsSync(target)) {
    await step("compiled the image driver", () =>
      makeFolder(target, async (temporary) => {
        const main = await mainWith(join(sources, "src/stable-diffusion.cpp"), sources, join(temporary, "main.cpp"));
        const units = [main, driver, vocabularies];
        const own = units.map((_, index) => join(temporary, `${index}.o`));
        for (const [index, unit] of units.entries())
          await compileSdUnit(sources, unit, own[index] ?? "", unit === driver ? ["-O2"] : MAIN_FLAGS);
        const shared = objects.filter((object) => !object.endsWith("/main.cpp.o"));
        await run([compiler, ...own, ...shared, "-pthread", "-Wl,--gc-sections", "-o", join(temporary, "driver")]);
      }),
    );
  }
  return join(target, "driver");
}
