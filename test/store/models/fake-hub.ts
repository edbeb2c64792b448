// A model hub on loopback: a file list, redirects to a second origin with the bytes, and faults on demand.

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Content {
  readonly bytes: number;
  readonly sha256: string;
  read(start: number, end: number): Uint8Array;
}

export interface HubFile {
  readonly content: Content;
  /** Whether the file is stored in Git itself rather than in LFS. */
  readonly small?: boolean;
}

/** The fault of the next request for bytes; undefined for none. */
export interface Fault {
  /** Closes the connection after this many bytes. */
  readonly cutAfter?: number;
  /** With `cutAfter`: delays the close until this returns true. */
  readonly once?: () => boolean;
  /** Keeps the connection open but sends nothing more after this many bytes. */
  readonly hangAfter?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Flips one bit at this offset of the file. */
  readonly corrupt?: number;
  readonly body?: string;
  readonly ignoreRange?: boolean;
}

export interface Seen {
  readonly origin: "hub" | "cdn";
  readonly path: string;
  readonly authorization: string | undefined;
  readonly range: string | undefined;
}

export function bytesContent(bytes: Uint8Array): Content {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { bytes: bytes.length, sha256, read: (start, end) => bytes.subarray(start, end) };
}

/** Returns large content without holding it in memory: a repeated block that starts with its number. */
export function largeContent(bytes: number): Content {
  const block = 1 << 16;
  const noise = crypto.getRandomValues(new Uint8Array(block));
  const read = (start: number, end: number) => {
    const result = Buffer.alloc(end - start);
    for (let at = start; at < end;) {
      const number = Math.floor(at / block);
      const within = at - number * block;
      const piece = Buffer.from(noise);
      piece.writeUInt32LE(number, 0);
      at += piece.copy(result, at - start, within, Math.min(block, within + end - at));
    }
    return result;
  };
  const hash = createHash("sha256");
  for (let at = 0; at < bytes; at += block) hash.update(read(at, Math.min(bytes, at + block)));
  return { bytes, sha256: hash.digest("hex"), read };
}

export class FakeHub implements AsyncDisposable {
  /** Files by repository, then by path. */
  readonly repos = new Map<string, Map<string, HubFile>>();
  readonly gated = new Map<string, string>();
  /** Faults of requests for bytes, in order. */
  faults: (Fault | undefined)[] = [];
  /** Faults of requests for file lists. */
  treeFaults: Fault[] = [];
  /** Entries per page of a file list. */
  pageSize = 1000;
  /** Changes an entry of the file list. */
  treeEntry: (entry: Record<string, unknown>) => Record<string, unknown> = (entry) => entry;
  readonly seen: Seen[] = [];
  /** How many bytes the CDN has sent. */
  sent = 0;
  /** Milliseconds between pieces of 64 KiB. */
  delay = 0;

  private constructor(
    private readonly hub: Server,
    private readonly cdn: Server,
  ) {
    hub.on("request", (request, response) => this.answerHub(request, response));
    cdn.on("request", (request, response) => void this.answerBytes(request, response));
  }

  static async start(): Promise<FakeHub> {
    const [hub, cdn] = [createServer(), createServer()];
    const fake = new FakeHub(hub, cdn);
    for (const server of [hub, cdn]) {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.listen(0, "127.0.0.1", resolve);
      await promise;
    }
    return fake;
  }

  get endpoint(): string {
    return urlOf(this.hub);
  }

  get cdnUrl(): string {
    return urlOf(this.cdn);
  }

  add(repo: string, path: string, file: HubFile): void {
    const files = this.repos.get(repo) ?? new Map<string, HubFile>();
    this.repos.set(repo, files.set(path, file));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.hub, this.cdn]) {
      server.closeAllConnections();
      server.close();
    }
  }

  private answerHub(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", this.endpoint);
    this.note("hub", request);
    const [, repo = "", rest = ""] = /^\/(?:api\/models\/)?([^/]+\/[^/]+)\/(.*)$/.exec(url.pathname) ?? [];
    const files = this.repos.get(repo);
    const token = this.gated.get(repo);
    if (!files) return refuse(response, 401, { "x-error-code": "RepoNotFound" });
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      return refuse(response, request.headers.authorization ? 403 : 401, { "x-error-code": "GatedRepo" });
    }
    if (url.pathname.startsWith("/api/")) return this.answerTree(url, files, response);
    const path = decodeURIComponent(rest.replace(/^resolve\/[^/]+\//, ""));
    const file = files.get(path);
    if (!file) return refuse(response, 404, { "x-error-code": "EntryNotFound" });
    const linked = { "x-linked-etag": `"${file.content.sha256}"`, "x-linked-size": String(file.content.bytes) };
    response
      .writeHead(302, { ...linked, location: `${this.cdnUrl}/${repo}/${encodeURIComponent(path)}?signature=1` })
      .end();
  }

  private answerTree(url: URL, files: Map<string, HubFile>, response: ServerResponse): void {
    const fault = this.treeFaults.shift();
    if (fault) return refuse(response, fault.status ?? 500, fault.headers ?? {});
    const start = Number(url.searchParams.get("cursor") ?? 0);
    const entries = [...files].map(([path, { content, small }]) => {
      const oid = createHash("sha1")
        .update(`blob ${content.bytes}\0`)
        .update(small ? content.read(0, content.bytes) : "")
        .digest("hex");
      const lfs = { oid: content.sha256, size: content.bytes, pointerSize: 135 };
      return this.treeEntry({ type: "file", oid, size: content.bytes, path, ...(!small && { lfs }) });
    });
    const next = start + this.pageSize;
    // Like a mirror that passes on the hub's own link.
    const link = `<https://huggingface.invalid${url.pathname}?recursive=true&cursor=${next}>; rel="next"`;
    response.writeHead(200, { "content-type": "application/json", ...(next < entries.length && { link }) });
    response.end(JSON.stringify([{ type: "directory", path: "x", oid: "0", size: 0 }, ...entries.slice(start, next)]));
  }

  private async answerBytes(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.note("cdn", request);
    const [, repo = "", name = ""] = /^\/([^/]+\/[^/]+)\/([^?]+)/.exec(request.url ?? "") ?? [];
    const content = this.repos.get(repo)?.get(decodeURIComponent(name))?.content;
    if (!content) return refuse(response, 404, {});
    const range = request.headers.range;
    const fault = range === "bytes=0-0" ? undefined : this.faults.shift();
    if (fault?.status !== undefined) return refuse(response, fault.status, fault.headers ?? {}, fault.body);
    const etag = `"${content.sha256.slice(0, 16)}"`;
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
    const isRange = from !== undefined && !fault?.ignoreRange && (request.headers["if-range"] ?? etag) === etag;
    const start = isRange ? Number(from) : 0;
    const end = isRange && to ? Number(to) + 1 : content.bytes;
    const headers = { etag, "content-length": String(end - start), "accept-ranges": "bytes" };
    if (start >= content.bytes) return refuse(response, 416, { "content-range": `bytes */${content.bytes}` });
    response.writeHead(isRange ? 206 : 200, {
      ...headers,
      ...(isRange && { "content-range": `bytes ${start}-${end - 1}/${content.bytes}` }),
    });
    await this.send(response, content, start, end, fault ?? {});
  }

  private async send(
    response: ServerResponse,
    content: Content,
    start: number,
    end: number,
    fault: Fault,
  ): Promise<void> {
    const limit = Math.min(end, start + (fault.cutAfter ?? fault.hangAfter ?? Infinity));
    for (let at = start; at < limit && !response.destroyed;) {
      const piece = new Uint8Array(content.read(at, Math.min(limit, at + (1 << 16))));
      const wrong = (fault.corrupt ?? -1) - at;
      if (wrong >= 0 && wrong < piece.length) piece[wrong] = (piece[wrong] ?? 0) ^ 1;
      at += piece.length;
      this.sent += piece.length;
      const { promise, resolve } = Promise.withResolvers<void>();
      response.write(piece, () => resolve());
      response.once("close", resolve);
      await promise;
      response.off("close", resolve);
      if (this.delay > 0) await Bun.sleep(this.delay);
    }
    if (fault.cutAfter !== undefined) await this.cut(response, fault);
    else if (fault.hangAfter === undefined) response.end();
  }

  /**
   * Closes the connection. When a connection ends, Bun's client drops bytes that it has not delivered, so the close
   * may wait for `once`.
   */
  private async cut(response: ServerResponse, { once }: Fault): Promise<void> {
    while (once && !once() && !response.destroyed) await Bun.sleep(1);
    response.socket?.destroy();
  }

  private note(origin: Seen["origin"], { url = "", headers }: IncomingMessage): void {
    this.seen.push({ origin, path: url, authorization: headers.authorization, range: headers.range });
  }
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function refuse(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, body = ""): void {
  response.writeHead(status, headers).end(body);
}
