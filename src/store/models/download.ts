// Downloads one file, resuming where it stopped, over as many connections as necessary.

import { statSync } from "node:fs";
import { fileSize } from "../../domain/file-size.ts";
import { get, type Hub } from "./http-client.ts";
import { PartFile, partPath } from "./part-file.ts";
import { PassingError, PullError } from "./pull-error.ts";
import type { RemoteFile } from "./remote-file.ts";
import { retrying, whileAlive, type RetryOptions } from "./retry.ts";

/** From this many bytes on, hashing takes seconds, during which the user would see nothing. */
const LONG_TO_READ = 1e9;

interface DownloadOptions extends Omit<RetryOptions, "progress"> {
  /** Called often with the bytes received so far. */
  readonly progress: (received: number) => void;
  /** Checks the complete file before it gets its name; throws when it is not acceptable. */
  readonly check: (path: string) => void;
}

/** Downloads `remote` to `target`; returns its SHA-256. Keeps partial data for the next attempt after a failure. */
export async function download(
  hub: Hub,
  remote: RemoteFile,
  target: string,
  options: DownloadOptions,
): Promise<string> {
  const there = statSync(partPath(target, remote), { throwIfNoEntry: false })?.size ?? 0;
  if (there >= LONG_TO_READ) options.note(`reading the ${fileSize(there)} that are there`);
  const part = await PartFile.open(target, remote, options.signal);
  try {
    options.progress(part.received);
    await retrying(() => receive(hub, remote, part, options), { ...options, progress: () => part.received });
  } catch (error) {
    await (part.received === 0 ? part.discard() : part.close());
    throw error;
  }
  return part.finish(options.check);
}

async function receive(hub: Hub, remote: RemoteFile, part: PartFile, options: DownloadOptions): Promise<void> {
  if (remote.bytes !== undefined && part.received === remote.bytes) return;
  const { signal, patience, progress } = options;
  const { subject } = remote;
  let host = new URL(remote.url).host;
  await whileAlive(
    { signal, idleMs: patience.idleMs },
    async (ended, alive) => {
      const headers = part.received === 0 ? {} : rangeFrom(part.received, remote);
      const answer = await get(hub, remote.url, { subject, headers, signal: ended });
      ({ host } = answer);
      await expectSame(answer.response, answer.linked, remote, host, part);
      for await (const bytes of answer.response.body ?? []) {
        alive();
        if (part.received + bytes.length > (remote.bytes ?? Infinity)) throw await wrongSize(remote, host, part);
        await part.append(bytes);
        progress(part.received);
      }
    },
    (isSilent) => (isSilent ? `${host} sends nothing any more` : `The connection to ${host} was lost`),
  );
  // A server that ends the response early without an error looks like the end of the file.
  if (part.received < (remote.bytes ?? 0)) throw new PassingError(`The connection to ${host} was lost`);
}

const rangeFrom = (start: number, { etag, checksum }: RemoteFile) => ({
  range: `bytes=${start}-`,
  // A checksum is verified at the end; without one, only the entity tag shows that the file is unchanged.
  ...(etag !== undefined && !checksum && { "if-range": etag }),
});

/** Checks that a response continues the same file where the part ends; otherwise restarts the part or throws. */
async function expectSame(
  response: Response,
  linked: { readonly etag?: string; readonly bytes?: number },
  remote: RemoteFile,
  host: string,
  part: PartFile,
): Promise<void> {
  const { headers, status } = response;
  const { checksum, bytes } = remote;
  if (checksum?.algorithm === "sha256" && /^[0-9a-f]{64}$/.test(linked.etag ?? "") && linked.etag !== checksum.hex) {
    const { path, isPinned } = remote;
    if (isPinned) throw new PullError(`${path} at ${host} is not the version that this svc expects (checksum).`);
    throw new PullError(`${path} was changed while it was downloaded; pull it again.`);
  }
  const [, start, total] = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  const announced = status === 200 ? (headers.get("content-length") ?? undefined) : total;
  if (bytes !== undefined && announced !== undefined && Number(announced) !== bytes) {
    throw await wrongSize(remote, host, part, Number(announced), response);
  }
  if (status === 206 && Number(start) === part.received) return;
  if (status === 200) return part.received === 0 ? undefined : part.restart();
  await response.body?.cancel();
  await part.restart();
  throw new PassingError(`${host} does not go on where the download stopped`);
}

const POINTER = "version https://git-lfs.github.com/spec/v1";
const LARGEST_POINTER = 1024;

async function wrongSize(
  remote: RemoteFile,
  host: string,
  part: PartFile,
  bytes?: number,
  response?: Response,
): Promise<PullError> {
  const isSmall = bytes !== undefined && bytes <= LARGEST_POINTER;
  const isPointer = isSmall && (await response?.text())?.startsWith(POINTER) === true;
  if (!isSmall) await response?.body?.cancel();
  await part.restart();
  if (isPointer)
    return new PullError(`${host} answers with the Git LFS pointer of ${remote.path} instead of the file.`);
  const size = bytes === undefined ? "more" : `${bytes} bytes`;
  return new PullError(
    `${remote.path} has a wrong size at ${host}: ${size} instead of ${remote.bytes} bytes; the received part was deleted.`,
  );
}
