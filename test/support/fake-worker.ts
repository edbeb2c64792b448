// The answers of a worker, without a worker process.

/** Returns a 64-bit number, which precedes each answer as its length. */
const size = (bytes: number): Buffer => {
  const field = Buffer.alloc(8);
  field.writeBigUInt64LE(BigInt(bytes));
  return field;
};
export const hello = (major: number): Buffer => Buffer.concat([size(28), Buffer.from([major]), Buffer.alloc(27)]);
export const number = (value: number): Buffer => Buffer.concat([size(4), Buffer.from([value, 0, 0, 0])]);
export const memory = (free: number): Buffer => Buffer.concat([size(16), size(free), size(9000)]);

/** Listens like a worker with one device, for tests of worker discovery; runs until the caller stops it. */
export function fakeWorker(free: number): Bun.TCPSocketListener<undefined> {
  const answers: Readonly<Record<number, Buffer>> = { 14: hello(7), 15: number(1) };
  const data = (socket: Bun.Socket<undefined>, [command = 0]: Buffer) =>
    void socket.write(answers[command] ?? memory(free));
  return Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data } });
}
