// Has an agent trust the certificate of the server, which often no authority signed, beside those that it trusts anyway.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { rootCertificates } from "node:tls";
import type { Environment } from "../config/environment.ts";
import type { Agent } from "./agents.ts";

/** What OpenSSL and others read, whatever else is there. */
const COMMON = "SSL_CERT_FILE";

/**
 * The variables by which the agent trusts `cert`, a PEM text, and what they name in the user's environment. `write`: keeps a file for
 * the time of the run, and returns its path.
 */
export function trusting(
  { certificates: { variables, alone } }: Pick<Agent, "certificates">,
  cert: string,
  user: Environment,
  write: (name: string, text: string) => string,
): Environment {
  const files = new Set([...variables, COMMON].flatMap((name) => user[name] || []));
  const own = [...files].flatMap(textOf);
  const others = own.length === 0 && alone ? rootCertificates : own;
  const path = write("certificates.pem", [cert, ...others].map((pem) => pem.trimEnd()).join("\n"));
  return Object.fromEntries(variables.map((name) => [name, path]));
}

/** Whether the certificate is for the host of this address: clients that do not know it otherwise look. */
export function isFor(certificate: X509Certificate, url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

/** The host names that a certificate is for, without patterns. */
export const namesOf = ({ subjectAltName = "" }: X509Certificate): string[] =>
  [...subjectAltName.matchAll(/(?<=^|, )DNS:([\w.-]+)(?=,|$)/g)].map(([, name = ""]) => name);

/** None where it cannot be read: programs do without, too. */
function textOf(file: string): string[] {
  try {
    return [readFileSync(file, "utf8")];
  } catch {
    return [];
  }
}
