// Rules that the streams of every API keep, tested once; the chunks of each API are in its golden files.

import { describe, expect, test } from "bun:test";
import { passThrough, streamed, type Put, type StreamWriter } from "../../src/dialect/stream/streamed.ts";
import { SvcError } from "../../src/domain/errors.ts";

type Step = string | Error | "abort";

/** Returns a source of these events, which throws the errors among them, and what the reader did with the source. */
function source(steps: readonly Step[], left: AbortController) {
  const seen = { returned: 0, read: 0 };
  const events: AsyncIterator<string> = {
    next: async () => {
      const step = steps[seen.read++];
      if (step === "abort") {
        left.abort();
        throw left.signal.reason;
      }
      if (step instanceof Error) throw step;
      return step === undefined ? { value: undefined, done: true } : { value: step, done: false };
    },
    return: async () => {
      seen.returned++;
      return { value: undefined, done: true };
    },
  };
  return { events, seen };
}

/** Streams the steps with a writer that writes two chunks per event; `broken` replaces methods of the writer. */
function stream(steps: readonly Step[], broken: (put: Put<string>) => Partial<StreamWriter<string>> = () => ({})) {
  const left = new AbortController();
  const { events, seen } = source(steps, left);
  const unexpected: unknown[] = [];
  let closed = 0;
  const open = (put: Put<string>): StreamWriter<string> => ({
    begin: () => put("<"),
    event(event) {
      put(event);
      put(`${event}'`);
    },
    end: () => put(">"),
    failure: ({ code, message }) => put(`${code}: ${message}`),
    close() {
      closed++;
      put("nobody reads this");
    },
    ...broken(put),
  });
  const onUnexpected = (error: unknown) => void unexpected.push(error);
  const chunks = streamed(events, open, { signal: left.signal, terminator: "END", onUnexpected });
  /** Expects that the source was returned and the writer closed, once each. */
  const expectOver = () => expect([seen.returned, closed]).toEqual([1, 1]);
  return { chunks, left, seen, unexpected, expectOver };
}

const crash = new SvcError("engine_crashed", "The engine is gone.");

describe("a stream", () => {
  test("contains the chunks of its writer in order, with the terminator last", async () => {
    const { chunks, expectOver } = stream(["a", "b"]);
    expect(await Array.fromAsync(chunks)).toEqual(["<", "a", "a'", "b", "b'", ">", "END"]);
    expectOver();
  });

  test("without events still begins and ends", async () => {
    const { chunks, expectOver } = stream([]);
    expect(await Array.fromAsync(chunks)).toEqual(["<", ">", "END"]);
    expectOver();
  });

  test("without a terminator ends with the last chunk of its writer", async () => {
    const { events } = source(["a"], new AbortController());
    const { signal } = new AbortController();
    const chunks = streamed(events, passThrough, { signal, onUnexpected: () => {} });
    expect(await Array.fromAsync(chunks)).toEqual(["a"]);
  });

  test.each([
    ["at once", [crash], ["<"]],
    ["later", ["a", crash, "b"], ["<", "a", "a'"]],
  ])("that fails %s contains the failure and the terminator, but no end chunk", async (_, steps, before) => {
    const { chunks, unexpected, expectOver } = stream(steps);
    expect(await Array.fromAsync(chunks)).toEqual([...before, "engine_crashed: The engine is gone.", "END"]);
    expect(unexpected).toEqual([]);
    expectOver();
  });

  test("reports an unexpected error without its text", async () => {
    const bug = new TypeError("a prompt's words");
    const { chunks, unexpected, expectOver } = stream(["a", bug]);
    const all = await Array.fromAsync(chunks);
    expect(all.slice(-2)).toEqual(["internal_error: An internal error occurred.", "END"]);
    expect(unexpected).toEqual([bug]);
    expectOver();
  });

  test("of finished chunks also reports an unexpected error", async () => {
    const { events } = source(["a", new TypeError("bug")], new AbortController());
    const unexpected: unknown[] = [];
    const { signal } = new AbortController();
    const onUnexpected = (error: unknown) => void unexpected.push(error);
    const chunks = streamed<string, string>(events, passThrough, { signal, terminator: "END", onUnexpected });
    expect(await Array.fromAsync(chunks)).toEqual(["a", "END"]);
    expect(unexpected).toHaveLength(1);
  });

  test.each(["begin", "event", "end"] as const)("does not throw an error of its writer's %s method", async (method) => {
    const throws = () => {
      throw new TypeError("bug");
    };
    const { chunks, unexpected, expectOver } = stream(["a"], () => ({ [method]: throws }));
    const all = await Array.fromAsync(chunks);
    expect(all.slice(-2)).toEqual(["internal_error: An internal error occurred.", "END"]);
    expect(unexpected).toHaveLength(1);
    expectOver();
  });

  test("throws only an error of its writer's failure method, and still closes its source", async () => {
    const failure = (error: SvcError) => {
      throw error;
    };
    const { chunks, expectOver } = stream(["a", crash], () => ({ failure }));
    await expect(Array.fromAsync(chunks)).rejects.toBe(crash);
    expectOver();
  });

  test("whose client disconnects while waiting for an event ends and reports nothing", async () => {
    const { chunks, unexpected, expectOver } = stream(["a", "abort"]);
    expect(await Array.fromAsync(chunks)).toEqual(["<", "a", "a'"]);
    expect(unexpected).toEqual([]);
    expectOver();
  });

  test("whose client has disconnected has no end chunk", async () => {
    const { chunks, left, expectOver } = stream(["a"]);
    await chunks.next();
    left.abort();
    expect(await Array.fromAsync(chunks)).toEqual(["a", "a'"]);
    expectOver();
  });

  test("that is abandoned at any point closes its source, and reads no further event", async () => {
    for (let read = 1; read <= 7; read++) {
      const { chunks, seen, expectOver } = stream(["a", "b"]);
      for (let chunk = 0; chunk < read; chunk++) await chunks.next();
      await chunks.return();
      expect((await chunks.next()).done).toBe(true);
      // Two chunks per event, and one before the first.
      expect(seen.read).toBe(Math.floor(read / 2));
      expectOver();
    }
  });

  test("creates each chunk only when its event has arrived", async () => {
    const gate = Promise.withResolvers<string>();
    const next = async () => ({ value: await gate.promise, done: false });
    const { signal } = new AbortController();
    const options = { signal, terminator: "END", onUnexpected: () => {} };
    const chunks = streamed({ next }, (put: Put<string>) => ({ begin: () => put("<"), event: put }), options);
    expect((await chunks.next()).value).toBe("<");
    const second = chunks.next();
    gate.resolve("a");
    expect((await second).value).toBe("a");
  });
});
