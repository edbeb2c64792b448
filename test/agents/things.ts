// Shared by the checks of both agents: a tool server, a picture, an endless answer.

import { join } from "node:path";
import { deflateSync } from "node:zlib";
import type { FakeEngine } from "../support/fake-text-engine.ts";
import type { Turn } from "./scripted.ts";

/** A server with one MCP tool, `fruit`, on standard input and output. */
export const FRUIT_SERVER = join(import.meta.dir, "fruit-server.mjs");

/** Returns a PNG file of 64 × 64 red pixels. */
export function redPicture(): Uint8Array {
  const side = 64;
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(Bun.hash.crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const header = Buffer.from([0, 0, 0, side, 0, 0, 0, side, 8, 2, 0, 0, 0]);
  const row = Buffer.concat([Buffer.from([0]), Buffer.concat(Array<Buffer>(side).fill(Buffer.from([255, 0, 0])))]);
  const pixels = deflateSync(Buffer.concat(Array<Buffer>(side).fill(row)));
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

/** Starts an answer that never ends. `talking` resolves when it has begun, `left` when the engine has dropped it. */
export function startsTalking() {
  const { promise: talking, resolve } = Promise.withResolvers<void>();
  const turn: Turn = () => ({
    steps: [
      { text: "Once upon a time" },
      // The client has read the beginning by then.
      { wait: Bun.sleep(500).then(() => resolve()) },
      { wait: new Promise(() => {}) },
    ],
  });
  const left = async (engine: FakeEngine) => {
    const deadline = Date.now() + 10_000;
    while (engine.live > 0) {
      if (Date.now() > deadline) throw new Error("the engine still computes for a client that left");
      await Bun.sleep(20);
    }
    if (engine.aborted.length === 0) throw new Error("the answer ended by itself");
  };
  return { turn, talking, left };
}
