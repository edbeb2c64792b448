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
  MissingPackage,
  requireTools,
  run,
  step,
  unlessMissing,
} from "./run.ts";
import { isForeign, platform } from "./target.ts";
import pin from "./tesseract.json" with { type: "json" };

/** Half the time, for runs of a second. */
const OPTIONS = `MAVEN_OPTS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${process.env["MAVEN_OPTS"] ?? ""}`;
const COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

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
  const fetched = await unlessMissing("the native Tesseract, which is twice as fast", async () => {
    const fetchAll = async (part: string) => {
      for (const name of PACKAGES) await fetchLibrary(name, { classifier, sha256: sha256[name] }, part);
    };
    if (!existsSync(target)) await step("fetched Tesseract", () => makeFolder(target, fetchAll));
    makeCurrent(folder, version, isForeign ? platform : "current");
    return filesIn(target);
  });
  return fetched ?? [undefined];
}

type Platform = keyof typeof pin.platforms;
type Package = keyof typeof pin.packages;
const PACKAGES = Object.keys(pin.packages) as Package[];
const isPinned = (name: string): name is Platform => name in pin.platforms;

async function fetchLibrary(
  name: Package,
  { classifier, sha256 }: { readonly classifier: string; readonly sha256: string },
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
  expectSha256(bytes, sha256, `${artifact} is not the package that vendor/tesseract.json pins.`);
  const [content] = Object.values(unzipSync(bytes, { filter: (file) => file.name.endsWith(`/${library}`) }));
  if (!content) throw new BuildError(`${artifact} has no ${library}.`);
  writeFileSync(join(folder, name === "tesseract" ? "libtesseract.so" : library), content);
  rmSync(archive);
}
