// Programs on the host: their input and environment, and how they end.

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findProgram, programOutput } from "../../../src/engine/process/program.ts";
import { fakeProgram, type FakeProgram } from "../../support/fake-program.ts";
import { isAlive } from "../../support/processes.ts";
import { rejectionMessage } from "../../support/thrown.ts";

const limits = { mostBytes: 1000, mostMs: 60_000 };
const programs: FakeProgram[] = [];

afterEach(() => {
  for (const program of programs.splice(0)) program.remove();
});

function program(script: string): FakeProgram {
  const made = fakeProgram("program", script);
  programs.push(made);
  return made;
}

test("a program reads its whole standard input, and sees only the environment that it is given", async () => {
  const { path } = program('cat; printf "|%s|%s" "$HOME" "$GREETING"');
  const output = await programOutput([path], { ...limits, input: "a\n$(id)\0z", env: { GREETING: "hi" } });
  expect(new TextDecoder().decode(output)).toBe("a\n$(id)\0z||hi");
});

test("an argument is passed unchanged, whatever it contains", async () => {
  const { path } = program('printf "%s|" "$@"');
  const output = await programOutput([path, "$(id) `id`; id", "-v"], limits);
  expect(new TextDecoder().decode(output)).toBe("$(id) `id`; id|-v|");
});

test("a program that reads its input only partly, or not at all, does not fail", async () => {
  const { path } = program("exec <&-; printf done");
  expect(await rejectionMessage(programOutput([path], { ...limits, input: "x".repeat(1 << 20) }))).toBe("no failure");
});

describe("a failure is", () => {
  test("an exit code other than 0", async () => {
    expect(await rejectionMessage(programOutput([program("printf half; exit 3").path], limits))).toContain(
      "ended with 3",
    );
  });

  test("a death by a signal", async () => {
    expect(await rejectionMessage(programOutput([program("kill -9 $$").path], limits))).toStartWith(
      "a program ended with",
    );
  });

  test("more output than allowed; the program is killed", async () => {
    const endless = program("while :; do printf 0123456789; done");
    expect(await rejectionMessage(programOutput([endless.path], limits))).toContain("more than 1000 bytes");
  });

  test("a run that exceeds its time, even when the program has started another", async () => {
    const { path, read } = program("sleep 600 & echo $! > child; sleep 600");
    expect(await rejectionMessage(programOutput([path], { ...limits, mostMs: 200 }))).toContain("more than 0.2 s");
    const pid = Number(read("child"));
    while (isAlive(pid)) await Bun.sleep(5);
  });

  test("a missing program", async () => {
    expect(await rejectionMessage(programOutput(["/nowhere/program"], limits))).toContain("cannot be started (ENOENT)");
    expect(findProgram("no-such-program-anywhere")).toBeUndefined();
  });
});

test("aborting a run kills the program and rejects with the abort reason", async () => {
  const { path, folder } = program("touch begun; cat > /dev/null; sleep 600; touch late");
  const stop = new AbortController();
  const run = rejectionMessage(programOutput([path], { ...limits, input: "" }, stop.signal));
  while (!existsSync(join(folder, "begun"))) await Bun.sleep(5);
  stop.abort("enough");
  expect(await run).toBe("enough");
  expect(await rejectionMessage(programOutput([path], limits, stop.signal))).toBe("enough");
});
