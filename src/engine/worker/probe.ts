// Checks whether a worker is there and what it offers, before native code connects to it: native code would wait
// forever, or end the process. Implements only the part of llama.cpp's RPC protocol that is needed for this.

import { lookup } from "node:dns/promises";
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
  const connection = await Connection.open(address, port, ends);
  try {
    const hello = await connection.call(COMMANDS.hello, CAPABILITIES, 4 + CAPABILITIES.length).catch(() => {
      throw new WorkerError(
        `The worker ${name} closed the connection: its --allow does not name this machine, or it is not a worker.`,
      );
    });
    const major = hello.getUint8(0);
    if (major !== MAJOR_VERSION) {
      throw new WorkerError(
        `The worker ${name} speaks version ${major} of llama.cpp's RPC protocol, this program ${MAJOR_VERSION}: both must be the same svc.`,
      );
    }
    const devices = (await connection.call(COMMANDS.devices, new Uint8Array(), 4)).getUint32(0, true);
    if (devices === 0 || devices > MOST_DEVICES) {
      throw new WorkerError(`The worker ${name} has ${devices} devices, where 1 to ${MOST_DEVICES} can be used.`);
    }
    const free: number[] = [];
    for (let device = 0; device < devices; device++) {
      const memory = await connection.call(COMMANDS.memory, new Uint8Array([device, 0, 0, 0]), 16);
      free.push(Number(memory.getBigUint64(0, true)));
    }
    return { name, endpoint: `${address}:${port}`, free };
  } finally {
    connection.end();
  }
}

/** A connection for one request at a time. */
class Connection {
  private received = new Uint8Array();
  private wanted: { readonly length: number; readonly take: (bytes: Uint8Array) => void } | undefined;
  private readonly closed = Promise.withResolvers<never>();
  private socket: Bun.Socket | undefined;

  private constructor() {
    this.closed.promise.catch(() => {});
  }

  static async open(hostname: string, port: number, ends: AbortSignal): Promise<Connection> {
    const connection = new Connection();
    const { closed } = connection;
    const socket = await Bun.connect({
      hostname,
      port,
      socket: {
        data: (_socket, bytes) => connection.receive(bytes),
        close: () => closed.reject(new Error("the connection was closed")),
        error: (_socket, error) => closed.reject(error),
      },
    });
    connection.socket = socket;
    // The signal may have been aborted while the connection was made.
    if (ends.aborted) socket.terminate();
    ends.addEventListener("abort", () => socket.terminate());
    return connection;
  }

  /** Sends a command and resolves with the `length` bytes of its answer. */
  async call(command: number, body: Uint8Array, length: number): Promise<DataView> {
    const request = new Uint8Array(9 + body.length);
    request[0] = command;
    new DataView(request.buffer).setBigUint64(1, BigInt(body.length), true);
    request.set(body, 9);
    this.socket?.write(request);
    const size = await this.read(8);
    if (size.getBigUint64(0, true) !== BigInt(length)) throw new Error("the answer has another length");
    return this.read(length);
  }

  end(): void {
    this.socket?.end();
  }

  private async read(length: number): Promise<DataView> {
    const { promise, resolve } = Promise.withResolvers<Uint8Array>();
    this.wanted = { length, take: resolve };
    this.receive(new Uint8Array());
    const bytes = await Promise.race([promise, this.closed.promise]);
    return new DataView(bytes.buffer, bytes.byteOffset, length);
  }

  private receive(bytes: Uint8Array): void {
    this.received = Buffer.concat([this.received, bytes]);
    const { wanted } = this;
    if (!wanted || this.received.length < wanted.length) return;
    this.wanted = undefined;
    const taken = this.received.slice(0, wanted.length);
    this.received = this.received.slice(wanted.length);
    wanted.take(taken);
  }
}
