// Checks whether a worker is there and what it offers, before native code connects to it: native code would wait
// forever, or end the process. Implements only the part of llama.cpp's RPC protocol that is needed for this.

import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { abortable } from "../../domain/abortable.ts";
import { systemErrorCode } from "../../domain/system-error-code.ts";
import { workerName, type WorkerAddress } from "../../domain/worker.ts";

/** What a worker reported. */
export interface FoundWorker {
  /** The operator's name for it. */
  readonly name: string;
  /** `address:port`, for native code. */
  readonly endpoint: string;
  /** Free bytes on each of its devices. */
  readonly free: readonly number[];
}

/** Thrown when a worker cannot be used; the message is one sentence for the operator. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
}

/** Milliseconds that a worker may take to answer. */
const PATIENCE_MS = 5000;
/** Major version of the protocol that the native libraries speak. */
const MAJOR_VERSION = 7;
/** Most devices that llama.cpp accepts from one worker. */
const MOST_DEVICES = 16;
/** Both ends can offer faster transports; this client offers none. */
const CAPABILITIES = new Uint8Array(24);
const COMMANDS = { memory: 11, hello: 14, devices: 15 } as const;

/** Queries a worker, for at most `patienceMs` milliseconds. Throws WorkerError, or the signal's reason. */
export async function probeWorker(
  address: WorkerAddress,
  signal?: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<FoundWorker> {
  const name = workerName(address);
  const late = AbortSignal.timeout(patienceMs);
  const ends = signal ? AbortSignal.any([signal, late]) : late;
  try {
    return await abortable(ask(name, address, ends), ends);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WorkerError) throw error;
    if (late.aborted) {
      throw new WorkerError(
        `The worker ${name} did not answer within ${patienceMs / 1000} s: it is stopped, out of reach, or serves another server.`,
      );
    }
    throw new WorkerError(`The worker ${name} cannot be reached (${systemErrorCode(error) ?? "unknown reason"}).`);
  }
}

async function ask(name: string, { host, port }: WorkerAddress, ends: AbortSignal): Promise<FoundWorker> {
  // Native code supports only IPv4.
  const { address } = await lookup(host, { family: 4 });
  const socket = connect(port, address);
  const close = () => void socket.destroy();
  ends.addEventListener("abort", close);
  try {
    await once(socket, "connect", { signal: ends });
    const call = caller(socket);
    const hello = await call(COMMANDS.hello, CAPABILITIES, 4 + CAPABILITIES.length).catch(() => {
      throw new WorkerError(
        `The worker ${name} closed the connection: its --allow does not name this machine, or it is not a worker.`,
      );
    });
    const [major] = hello;
    if (major !== MAJOR_VERSION) {
      throw new WorkerError(
        `The worker ${name} speaks version ${major} of llama.cpp's RPC protocol, this program ${MAJOR_VERSION}: both must be the same svc.`,
      );
    }
    const devices = (await call(COMMANDS.devices, new Uint8Array(), 4)).readUInt32LE();
    if (devices === 0 || devices > MOST_DEVICES) {
      throw new WorkerError(`The worker ${name} has ${devices} devices, where 1 to ${MOST_DEVICES} can be used.`);
    }
    const free: number[] = [];
    for (let device = 0; device < devices; device++) {
      const memory = await call(COMMANDS.memory, new Uint8Array([device, 0, 0, 0]), 16);
      free.push(Number(memory.readBigUInt64LE()));
    }
    return { name, endpoint: `${address}:${port}`, free };
  } finally {
    ends.removeEventListener("abort", close);
    close();
  }
}

/** Returns a function that sends a command and resolves with the `length` bytes of its answer. */
function caller(socket: Socket) {
  const chunks: AsyncIterator<Buffer> = socket[Symbol.asyncIterator]();
  let received = Buffer.alloc(0);
  const read = async (length: number): Promise<Buffer> => {
    while (received.length < length) {
      const { value, done } = await chunks.next();
      if (done) throw new Error("the connection was closed");
      received = Buffer.concat([received, value]);
    }
    const taken = received.subarray(0, length);
    received = received.subarray(length);
    return taken;
  };
  return async (command: number, body: Uint8Array, length: number): Promise<Buffer> => {
    const head = Buffer.alloc(9);
    head[0] = command;
    head.writeBigUInt64LE(BigInt(body.length), 1);
    socket.write(Buffer.concat([head, body]));
    if ((await read(8)).readBigUInt64LE() !== BigInt(length)) throw new Error("the answer has another length");
    return read(length);
  };
}
