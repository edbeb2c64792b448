// Downloads trained data for text recognition: npm packages of one language each, made by the tesseract.js project.

import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FetchOptions } from "../release-file.ts";
import { getBytes, type Hub } from "./http-client.ts";
import { ModelStore } from "./model-store.ts";
import { writeWhole } from "./part-file.ts";
import { PassingError, PullError } from "./pull-error.ts";
import { defaultPatience, retrying } from "./retry.ts";
import { tessdataModel } from "./short-names.ts";

interface TessdataPull extends Omit<FetchOptions, "progress"> {
  /** Tesseract's name for the language, such as deu or chi_sim. */
  readonly name: string;
  /** Base URL of the package registry, without a trailing slash. */
  readonly registry: string;
  /** Folder of downloaded models; the data is stored in its subfolder `tessdata`. */
  readonly folder: string;
  readonly progress: (received: number, total?: number) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const SCOPE = "@tesseract.js-data";
const NAME = /^[a-z]{2,4}(_[a-z]+)*$/i;
/** Message about an invalid name. */
export const TESSDATA_NAMES = "Data for text recognition is named tessdata:NAME, as tessdata:deu or tessdata:chi_sim.";

/** Returns whether a name is valid for data. */
export const isTessdata = (name: string): boolean => NAME.test(name);

/** Path in the package of the data trained for accuracy, with integer weights. */
const FILE = (name: string) => `package/4.0.0_best_int/${name}.traineddata.gz`;
/** Maximum bytes of a package and of its data; the largest package has 40 MB. */
const LARGEST_BYTES = 200_000_000;

/**
 * Downloads and verifies the data of a language; returns its path. The store then lists it as `tessdata:NAME`. Throws
 * PullError, or the signal's reason.
 */
export async function pullTessdata(pull: TessdataPull): Promise<string> {
  const { name, registry, folder, signal, note, patience = defaultPatience } = pull;
  if (!isTessdata(name)) throw new PullError(TESSDATA_NAMES);
  const hub: Hub = { endpoint: registry, userAgent: pull.userAgent };
  const subject = `${SCOPE}/${name}`;
  const wanted = { subject, most: LARGEST_BYTES };
  const address = `${registry}/${subject.replace("/", "%2f")}/latest`;
  const { content, tarball } = await retrying(
    async () => {
      const dist = distOf((await getBytes(hub, address, wanted, { signal, patience })).bytes, subject);
      const { bytes: archive } = await getBytes(hub, dist.tarball, wanted, { signal, patience }, pull.progress);
      const digest = new Bun.CryptoHasher("sha512").update(archive).digest("base64");
      if (`sha512-${digest}` !== dist.integrity) throw new PassingError(`${subject} arrived damaged`);
      return { content: await unpacked(archive, name, subject), tarball: dist.tarball };
    },
    { patience, signal, note },
  );
  const store = new ModelStore(folder);
  const file = `tessdata/${name}.traineddata`;
  const path = store.path(file);
  await writeWhole(path, content);
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const files = [{ path: file, bytes: content.length, sha256 }];
  const pulled = new Date(pull.now()).toISOString();
  await store.save({ name: tessdataModel(name), url: tarball, files, pulled });
  return path;
}

/** Returns the URL of the package's archive, and its checksum as npm records it. */
function distOf(metadata: Uint8Array, subject: string): { readonly tarball: string; readonly integrity: string } {
  try {
    const { dist } = JSON.parse(new TextDecoder().decode(metadata)) as { dist: Record<string, unknown> };
    const { tarball, integrity } = dist;
    if (typeof tarball === "string" && typeof integrity === "string" && /^https?:/.test(new URL(tarball).protocol)) {
      return { tarball, integrity };
    }
  } catch {
    // Handled like missing fields.
  }
  throw new PullError(`The registry does not say where ${subject} is.`);
}

async function unpacked(archive: Uint8Array, name: string, subject: string): Promise<Uint8Array> {
  // Bun.Archive itself would unpack without limit.
  const file = (await new Bun.Archive(await inflated(archive, subject)).files()).get(FILE(name));
  if (!file) throw new PullError(`${subject} has no data of the kind that is used here.`);
  return inflated(await file.bytes(), subject);
}

async function inflated(bytes: Uint8Array, subject: string): Promise<Buffer> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: LARGEST_BYTES });
  } catch {
    throw new PullError(`${subject} cannot be unpacked, or is larger than any such package.`);
  }
}
