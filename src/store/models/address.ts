// Finds out the size and version of a file at a URL before it is downloaded.

import { get, type Hub } from "./http-client.ts";
import { baseName, isModelFile, otherPart, partOf } from "./gguf-names.ts";
import { PullError } from "./pull-error.ts";
import { isSafePath, type RemoteFile } from "./remote-file.ts";
import { retrying, whileAlive, type RetryOptions } from "./retry.ts";

/** Parts of one model, and requests for them at the same time: names come from clients. */
const MOST_PARTS = 512;
const PARALLEL = 4;

/** Returns the file at `url`, or all parts of the model if `url` names one of several. Throws PullError. */
export async function lookAt(hub: Hub, url: URL, options: RetryOptions): Promise<RemoteFile[]> {
  const path = fileName(url);
  const { parts } = partOf(path);
  if (parts > MOST_PARTS) throw new PullError(`A model may have at most ${MOST_PARTS} parts; this is one of ${parts}.`);
  const files: RemoteFile[] = [];
  while (files.length < parts) {
    const numbers = Array.from({ length: Math.min(PARALLEL, parts - files.length) }, (_, at) => files.length + at + 1);
    const found = numbers.map((number) => {
      const part = new URL(url);
      if (parts > 1) part.pathname = otherPart(part.pathname, number);
      return retrying(() => probe(hub, part.href, parts > 1 ? otherPart(path, number) : path, options), options);
    });
    files.push(...(await Promise.all(found)));
  }
  return files;
}

/** Returns the name of the model's file at a URL. Throws PullError when it is not one. */
export function fileName(url: URL): string {
  let name = baseName(url.pathname);
  try {
    name = decodeURIComponent(name);
  } catch {
    // The name is used undecoded.
  }
  if (!isModelFile(name)) {
    throw new PullError(
      "The URL must end with the name of a .gguf file, or of one in whisper.cpp's format (ggml-….bin).",
    );
  }
  if (!isSafePath(name)) throw new PullError(`The name of the file in the URL is not safe as a path.`);
  return name;
}

/** Requests one byte: some servers answer HEAD wrongly, and signed URLs are valid for GET only. */
const probe = (hub: Hub, url: string, path: string, { signal, patience: { idleMs } }: RetryOptions) =>
  whileAlive(
    { signal, idleMs },
    async (ended): Promise<RemoteFile> => {
      const range = { range: "bytes=0-0" };
      const { response, linked } = await get(hub, url, { subject: path, headers: range, signal: ended });
      await response.body?.cancel();
      const total = /\/(\d{1,15})$/.exec(response.headers.get("content-range") ?? "")?.[1];
      const length = response.status === 200 ? response.headers.get("content-length") : null;
      const bytes = linked.bytes ?? Number(total ?? length ?? NaN);
      const etag = response.headers.get("etag");
      const isSha256 = linked.etag !== undefined && /^[0-9a-f]{64}$/.test(linked.etag);
      return {
        path,
        url,
        subject: new URL(url).pathname,
        ...(Number.isSafeInteger(bytes) && { bytes }),
        ...(isSha256 && { checksum: { algorithm: "sha256", hex: linked.etag } }),
        ...(etag?.startsWith('"') && { etag }),
      };
    },
    (isSilent, code) => (isSilent ? `${new URL(url).host} does not answer` : `The connection failed (${code})`),
  );
