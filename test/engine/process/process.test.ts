import { expect, test } from "bun:test";
import { join } from "node:path";
import { EngineProcess, type EngineExit } from "../../../src/engine/process/process.ts";

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
