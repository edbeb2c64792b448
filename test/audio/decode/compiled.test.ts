// The decoders are part of the compiled binary and need nothing else, not even an environment.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { compileOptions } from "../../../packaging/compile-options.ts";
import { fixture, isBuilt, libraries, soundRig } from "./rig.ts";

const rig = soundRig();
const files = ["opus.webm", "opus.ogg", "aac-live.mp4", "vorbis.ogg", "tone.mp3"];

test.skipIf(!isBuilt)("a compiled program plays every coding", async () => {
  const outfile = join(rig.folder, "play");
  await Bun.build({
    entrypoints: [join(import.meta.dir, "play.ts")],
    ...compileOptions(outfile),
  });
  const command = [outfile, libraries, ...files.map(fixture)];
  const { stdout, stderr } = Bun.spawnSync(command, { cwd: rig.folder, env: {} });
  const expected = await Promise.all(files.map(async (name) => (await rig.decode(fixture(name))).length));
  expect(stderr.toString()).toBe("");
  expect(stdout.toString().trim().split("\n").map(Number)).toEqual(expected);
});
