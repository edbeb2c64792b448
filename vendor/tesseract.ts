// Fetches Tesseract as a native library, and Leptonica, which it needs, from pinned packages of Maven Central.

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unzipSync } from "fflate";
import {
  BuildError,
  expectSha256,
  filesIn,
  fingerprint,
  makeCurrent,
  makeFolder,
  requireTools,
  run,
  step,
} from "./run.ts";
import { isForeign, platform } from "./target.ts";
import pin from "./tesseract.json" with { type: "json" };

/** Half the time, for runs of a second. */
const OPTIONS = `MAVEN_OPTS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${process.env["MAVEN_OPTS"] ?? ""}`;
const COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

/** Thrown when Maven is missing or cannot download a package. */
class MissingPackage extends BuildError {}

/**
 * Fetches the libraries if needed and returns their paths: none where Tesseract runs as WebAssembly. `[undefined]`, with
 * a printed line, when they cannot be downloaded, which has the same effect. Throws BuildError when they are not the
 * pinned ones.
 */
export async function buildTesseract(): Promise<(string | undefined)[]> {
  if (!isPinned(platform)) return [];
  const { classifier, sha256 } = pin.platforms[platform];
  const folder = join(import.meta.dir, ".build/tesseract");
  const version = `${platform}-${fingerprint(pin)}`;
  const target = join(folder, version);
  const fetchAll = async (part: string) => {
    await fetchLibrary("tesseract", classifier, sha256, part);
    await fetchLibrary("leptonica", classifier, sha256, part);
  };
  try {
    if (!existsSync(target)) await step("fetched Tesseract", () => makeFolder(target, fetchAll));
    makeCurrent(folder, version, isForeign ? platform : "current");
    return filesIn(target);
  } catch (error) {
    if (!(error instanceof MissingPackage)) throw error;
    console.log(`left out the native Tesseract, which is twice as fast: ${error.message}`);
    return [undefined];
  }
}

type Platform = keyof typeof pin.platforms;
type Package = keyof typeof pin.packages;
const isPinned = (name: string): name is Platform => name in pin.platforms;

async function fetchLibrary(
  name: Package,
  classifier: string,
  sums: Readonly<Record<Package, string>>,
  folder: string,
): Promise<void> {
  const { version, library } = pin.packages[name];
  const archive = join(folder, `${name}-${version}-${classifier}.jar`);
  const artifact = `${pin.group}:${name}:${version}:jar:${classifier}`;
  try {
    requireTools(["mvn"]);
    await run(["env", OPTIONS, "mvn", "-q", "-B", COPY, `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const reason = /\[ERROR\]\S* (.*)/.exec(message)?.[1] ?? message;
    throw new MissingPackage(`Maven cannot bring ${artifact} (${reason})`);
  }
  const bytes = readFileSync(archive);
  expectSha256(bytes, sums[name], `${artifact} is not the package that vendor/tesseract.json pins.`);
  const [content] = Object.values(unzipSync(bytes, { filter: (file) => file.name.endsWith(`/${library}`) }));
  if (!content) throw new BuildError(`${artifact} has no ${library}.`);
  writeFileSync(join(folder, name === "tesseract" ? "libtesseract.so" : library), content);
  rmSync(archive);
}
