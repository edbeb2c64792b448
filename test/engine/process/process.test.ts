import { expect, test } from "bun:test";
import { join } from "node:path";
import { isAlive } from "../../support/processes.ts";
import { until } from "../../support/until.ts";
import { EngineProcess, startAhead, type EngineExit } from "../../../src/engine/process/process.ts";

/** An engine that answers each message with its process id. */
const NAMING = [process.execPath, "-e", "process.on('message', () => process.send(process.pid))", "kind"];

function startedAhead(command: readonly string[]): number {
  const pid = startAhead({ command, env: {} });
  if (pid === undefined) throw new Error("the process was not started");
  return pid;
}

/** Starts such an engine and returns the process that has answered. */
async function answering(command: readonly string[]): Promise<{ readonly pid: number; readonly owned: boolean }> {
  const answered = Promise.withResolvers<number>();
  const onExit = (): void => answered.reject(new Error("the engine has ended"));
  const engine = new EngineProcess<string, number>({ command, env: {}, onMessage: answered.resolve, onExit });
  try {
    engine.send("who");
    const pid = await answered.promise;
    return { pid, owned: pid === engine.pid };
  } finally {
    await engine.kill();
  }
}

test("a process that was started ahead becomes the next engine of its kind, once", async () => {
  const ahead = startedAhead(NAMING);
  const other = await answering([...NAMING, "of another kind"]);
  const next = await answering(NAMING);
  const later = await answering(NAMING);
  expect([next.pid === ahead, other.pid === ahead, later.pid === ahead]).toEqual([true, false, false]);
  expect([next.owned, other.owned, later.owned]).toEqual([true, true, true]);
});

test("a process that was started ahead is taken although the program has another path now", async () => {
  const ahead = startedAhead(NAMING);
  expect((await answering(["/moved", ...NAMING.slice(1)])).pid).toBe(ahead);
});

test("when a process cannot be started ahead, nothing happens", () => {
  expect(startAhead({ command: ["/there/is/no/such/program"], env: {} })).toBeUndefined();
});

/** Returns whether a process runs, or has ended without this program having noticed. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a process that was started ahead and is gone is not taken", async () => {
  const ahead = startedAhead(NAMING);
  process.kill(ahead, "SIGKILL");
  await until(() => !exists(ahead));
  expect((await answering(NAMING)).pid).not.toBe(ahead);
});

test("a process that was started ahead ends with the program, which does not wait for it", async () => {
  const module = join(import.meta.dir, "../../../src/engine/process/process.ts");
  const script = `import { startAhead } from ${JSON.stringify(module)}; console.log(startAhead(${JSON.stringify({ command: NAMING, env: {} })}));`;
  const program = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const ahead = Number(await program.stdout.text());
  expect(await program.exited).toBe(0);
  expect(ahead).toBeGreaterThan(0);
  await until(() => !isAlive(ahead));
});

test("messages to an engine that has stopped listening are lost without an error", async () => {
  const [deaf, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const engine = new EngineProcess<string, string>({
    command: [process.execPath, "-e", "process.send('bye'); process.disconnect(); setInterval(() => {}, 1000)"],
    env: {},
    onMessage: () => deaf.resolve(),
    onExit: () => ended.resolve(),
  });
  try {
    await deaf.promise;
    for (let time = 0; time < 50; time++) {
      engine.send("job");
      await Bun.sleep(2);
    }
  } finally {
    await engine.stop("end", 100);
    await ended.promise;
  }
});

test("nothing is sent to an engine that is being killed, and `send` returns false", async () => {
  const [heard, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const engine = new EngineProcess<string, string>({
    command: [process.execPath, "-e", "process.on('message', () => process.send('heard'))"],
    env: {},
    onMessage: () => heard.resolve(),
    onExit: () => ended.resolve(),
  });
  expect(engine.send("job")).toBe(true);
  await heard.promise;
  engine.kill();
  expect(engine.send("job")).toBe(false);
  await ended.promise;
});

test("when an engine ends itself because of a job, the exit report names the job", async () => {
  const ended = Promise.withResolvers<EngineExit>();
  const script = "require('fs').writeSync(3, '+decoding a step\\n!17\\n-\\n'); process.exit(71)";
  const engine = new EngineProcess<never, never>({
    command: [process.execPath, "-e", script],
    env: {},
    onMessage: () => {},
    onExit: ended.resolve,
  });
  expect(await ended.promise).toMatchObject({ code: 71, signal: null, culprit: 17 });
  expect(engine.pulse()).toBeUndefined();
});

test("the work that native code reports can be read once", async () => {
  const told = Promise.withResolvers<void>();
  const engine = new EngineProcess<string, string>({
    command: [
      process.execPath,
      "-e",
      "require('fs').writeSync(3, '+drafting\\n-decoding a step\\n'); process.send('told'); setInterval(() => {}, 1000)",
    ],
    env: {},
    onMessage: () => told.resolve(),
    onExit: () => {},
  });
  try {
    await told.promise;
    expect(engine.pulse()).toEqual({ moved: true, work: "decoding a step" });
    expect(engine.pulse()).toBeUndefined();
  } finally {
    await engine.stop("end", 100);
  }
  expect(engine.pulse()).toBeUndefined();
});

test("when an engine dies while reading a file, the exit report names the file, whatever its name", async () => {
  const ended = Promise.withResolvers<EngineExit>();
  const child = join(import.meta.dir, "../../../src/engine/process/child.ts");
  const script = `const { tellReading } = await import(${JSON.stringify(child)});
    tellReading("/models/first"); tellReading("/models/a\\nb.gguf"); process.kill(process.pid, "SIGABRT")`;
  new EngineProcess<never, never>({
    command: [process.execPath, "-e", script],
    env: {},
    onMessage: () => {},
    onExit: ended.resolve,
  });
  expect(await ended.promise).toMatchObject({ signal: "SIGABRT", file: "/models/a\nb.gguf" });
});
