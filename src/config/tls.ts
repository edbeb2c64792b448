// Reads the server's certificate and private key.

import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { systemErrorCode } from "../domain/system-error-code.ts";
import { UsageError } from "./parse.ts";
import { readText } from "./read-text.ts";

/** Certificate and key as PEM. */
export interface Tls {
  /** Path of the certificate file. */
  readonly certFile: string;
  /** The server's certificate, followed by its intermediates. */
  readonly cert: string;
  /** Never logged. */
  readonly key: string;
}

/** Reads both files; returns undefined if neither is named. Throws UsageError if they are unusable or do not match. */
export function readTls(files: { readonly cert?: string; readonly key?: string }): Tls | undefined {
  if (files.cert === undefined && files.key === undefined) return undefined;
  if (files.cert === undefined || files.key === undefined) {
    throw new UsageError("--tls-cert and --tls-key belong together.");
  }
  const cert = readText(files.cert, "certificate");
  const key = readText(files.key, "private key");
  if (certificateIn(cert, files.cert).checkPrivateKey(privateKeyIn(key, files.key)))
    return { certFile: files.cert, cert, key };
  throw new UsageError(`The private key ${files.key} does not belong to the certificate ${files.cert}.`);
}

function certificateIn(pem: string, file: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new UsageError(`The certificate ${file} is not in PEM form.`);
  }
}

function privateKeyIn(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isEncrypted = systemErrorCode(error) === "ERR_MISSING_PASSPHRASE";
    throw new UsageError(
      isEncrypted ? `The private key ${file} has a passphrase.` : `The private key ${file} is not in PEM form.`,
    );
  }
}
