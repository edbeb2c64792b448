// Parses the user's name for a model: a repository of the hub, a page of one, the URL of a file, or a known set.

import { isModelFile } from "./gguf-names.ts";
import { KNOWN_SETS, type KnownSet } from "./known-sets.ts";
import { PullError } from "./pull-error.ts";
import { inFull, refusePrefixAlone } from "./short-names.ts";

export interface HubReference {
  readonly kind: "hub";
  /** `owner/name`. */
  readonly repo: string;
  readonly revision: string;
  /** A quantization or file path; absent: chosen by the default order. */
  readonly wanted?: string;
}

interface UrlReference {
  readonly kind: "url";
  readonly url: URL;
}

interface SetReference {
  readonly kind: "set";
  /** The model's name in the store. */
  readonly name: string;
  readonly set: KnownSet;
}

export type Reference = HubReference | UrlReference | SetReference;

const MAIN = "main";
/** Names that the hub allows; they begin with a letter or digit, so none is a hidden file or a parent folder. */
const REPO_PART = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_-])?$/;
const HUB_HOSTS = ["huggingface.co", "www.huggingface.co", "hf.co"];

/**
 * Parses `owner/name`, `owner/name:Q4_K_M`, `owner/name:file.gguf`, `owner/name/file.gguf`, the same after `hf.co/`, a
 * short name, a known set, or a URL. URLs of files at the hub or `endpoint`, or of pages that show a file, refer to the
 * repository. Throws PullError.
 */
export function parseReference(text: string, endpoint: string): Reference {
  if (/^https?:\/\//i.test(text)) return parseUrl(text, endpoint);
  const set = KNOWN_SETS.get(text.toLowerCase());
  if (set) return { kind: "set", name: text.toLowerCase(), set };
  refusePrefixAlone(text);
  const bare = withColon(inFull(text));
  const colon = bare.indexOf(":");
  const repo = colon < 0 ? bare : bare.slice(0, colon);
  const wanted = colon < 0 ? undefined : bare.slice(colon + 1);
  if (!isRepo(repo) || wanted === "") {
    const sets = [...KNOWN_SETS.keys()].join(", ");
    throw new PullError(
      `A model is named owner/repository, such as Qwen/Qwen3-4B-GGUF, owner/repository:QUANT, whisper:NAME, tessdata:NAME, by a URL, or is one of ${sets}, not "${shown(text)}".`,
    );
  }
  return { kind: "hub", repo, revision: MAIN, ...(wanted !== undefined && { wanted }) };
}

const HUB_PAGES = "https://huggingface.co";
const PYPI_PAGES = "https://pypi.org/project";

/** Returns the URL that a model is stored with: never with a query, which may hold a signature. */
export function sourceUrl(reference: Reference): string {
  if (reference.kind === "url") return `${reference.url.origin}${reference.url.pathname}`;
  if (reference.kind === "hub") {
    const { repo, revision } = reference;
    return `${HUB_PAGES}/${repo}${revision === MAIN ? "" : `/tree/${revision}`}`;
  }
  const { set } = reference;
  return "wheel" in set ? `${PYPI_PAGES}/${set.wheel.package}` : `${HUB_PAGES}/${set.repos[0].repo}`;
}

/** Returns the reference as `owner/name` or `owner/name:WANTED`. */
export const hubName = ({ repo, wanted }: HubReference): string => `${repo}${wanted === undefined ? "" : `:${wanted}`}`;

/** Converts `owner/name/path/of/file` to `owner/name:path/of/file`; returns other texts unchanged. */
function withColon(text: string): string {
  const [owner, name, ...path] = text.split("/");
  return path.length > 0 && !text.includes(":") && isModelFile(text) ? `${owner}/${name}:${path.join("/")}` : text;
}

/** Returns whether the text is a valid `owner/name` of the hub; both parts are then safe as folder names. */
export function isRepo(text: string): boolean {
  const parts = text.split("/");
  return parts.length === 2 && parts.every((part) => REPO_PART.test(part) && !part.includes(".."));
}

/** Makes untrusted text safe for a terminal. */
export const shown = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 200);

function parseUrl(text: string, endpoint: string): Reference {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw new PullError(`"${shown(text)}" is not a valid URL.`);
  if (url.username !== "" || url.password !== "") throw new PullError("A URL with a password in it is not accepted.");
  if (!HUB_HOSTS.includes(url.host) && url.origin !== new URL(endpoint).origin) return { kind: "url", url };
  const [owner = "", name = "", view, revision = MAIN, ...path] = url.pathname.slice(1).split("/").map(decoded);
  const repo = `${owner}/${name}`;
  if (!isRepo(repo)) return { kind: "url", url };
  const isFile = view !== undefined && ["resolve", "blob", "raw"].includes(view) && path.length > 0;
  if (isFile) return { kind: "hub", repo, revision, wanted: path.join("/") };
  return { kind: "hub", repo, revision: view === "tree" ? revision : MAIN };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
