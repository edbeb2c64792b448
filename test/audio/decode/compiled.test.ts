// The decoders are part of the compiled binary and need nothing else, not even an environment.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { fixture, isBuilt, libraries, soundRig } from "./rig.ts";

const rig = soundRig();
const files = ["opus.webm", "opus.ogg", "aac-live.mp4", "vorbis.ogg", "tone.mp3"];

test.skipIf(!isBuilt)("a compiled program plays every coding", async () => {
  const outfile = join(rig.folder, "play");
  await Bun.build({
    entrypoints: [join(import.meta.dir, "play.ts")],
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
    // The same options as in build.ts.
    minify: { whitespace: true, syntax: true, identifiers: false },
    bytecode: true,
    format: "esm",
  });
  const command = [outfile, libraries, ...files.map(fixture)];
  const { stdout, stderr } = Bun.spawnSync(command, { cwd: rig.folder, env: {} });
  const expected = await Promise.all(files.map(async (name) => (await rig.decode(fixture(name))).length));
  expect(stderr.toString()).toBe("");
  expect(stdout.toString().trim().split("\n").map(Number)).toEqual(expected);
});
