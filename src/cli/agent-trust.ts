// Makes an agent trust the server's certificate, which is often self-signed, in addition to those it already trusts.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { Environment } from "../config/environment.ts";
import { withoutBrackets } from "../config/host-name.ts";
import type { Agent } from "./agents.ts";
import { rootCertificates } from "./root-certificates.ts";

/** The variable that OpenSSL and other libraries read, whichever variables the agent has besides. */
const COMMON = "SSL_CERT_FILE";

/**
 * Returns the variables that make the agent trust `cert`, a PEM text, and the certificates that the user's environment
 * already names. `write` stores a file for the duration of the run and returns its path.
 */
export function trusting(
  { certificates: { variables, alone } }: Pick<Agent, "certificates">,
  cert: string,
  user: Environment,
  write: (name: string, text: string) => string,
): Environment {
  const files = new Set([...variables, COMMON].flatMap((name) => user[name] || []));
  const own = [...files].flatMap(textOf);
  const others = own.length === 0 && alone ? rootCertificates() : own;
  const path = write("certificates.pem", [cert, ...others].map((pem) => pem.trimEnd()).join("\n"));
  return Object.fromEntries(variables.map((name) => [name, path]));
}

/** Returns whether the certificate covers this address's host; clients check this unless they know the certificate. */
export function isFor(certificate: X509Certificate, url: string): boolean {
  const host = withoutBrackets(new URL(url).hostname);
  return (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

/** Returns the host names that a certificate covers, without wildcard patterns. */
export const namesOf = ({ subjectAltName = "" }: X509Certificate): string[] =>
  [...subjectAltName.matchAll(/(?<=^|, )DNS:([\w.-]+)(?=,|$)/g)].map(([, name = ""]) => name);

/** Returns the IP addresses that a certificate covers. */
export const addressesOf = ({ subjectAltName = "" }: X509Certificate): string[] =>
  [...subjectAltName.matchAll(/(?<=^|, )IP Address:([\d.:A-F]+)(?=,|$)/g)].map(([, address = ""]) => address);

/** Returns no certificates when the file cannot be read: other programs ignore such a file, too. */
function textOf(file: string): string[] {
  try {
    return [readFileSync(file, "utf8")];
  } catch {
    return [];
  }
}
