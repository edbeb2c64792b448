// Who may call at all, where the operator has given out keys.

import { hash, timingSafeEqual } from "node:crypto";
import type { ApiKey } from "../../config/api-keys.ts";
import { SvcError } from "../../domain/errors.ts";
import { protocolsOf } from "../socket.ts";

const digest = (key: string): Buffer => hash("sha256", key, "buffer");

export class ApiKeys {
  private readonly known: readonly { readonly name: string; readonly digest: Buffer }[];

  /** Without keys, requests need none. */
  constructor(keys: readonly ApiKey[]) {
    this.known = keys.map(({ name, key }) => ({ name, digest: digest(key) }));
  }

  /**
   * The name of the request's key; undefined without keys. `byPassword`: it may be the user or the password of Basic
   * authentication. Throws SvcError `invalid_api_key`.
   */
  check(headers: Headers, byPassword = false): string | undefined {
    const name = this.nameOf(headers, byPassword);
    if (name !== undefined || this.known.length === 0) return name;
    const isGiven = presentedKeys(headers, byPassword).length > 0;
    const ways = `Authorization: Bearer KEY${byPassword ? ", Basic with it as password," : ""} or x-api-key: KEY`;
    throw new SvcError(
      "invalid_api_key",
      isGiven ? "The API key is not one of this server's." : `An API key is required, as ${ways}.`,
    );
  }

  /** The same where requests may do without. */
  nameOf(headers: Headers, byPassword = false): string | undefined {
    if (this.known.length === 0) return undefined;
    let name: string | undefined;
    // To the end of the list, so that the time tells nothing of the keys.
    for (const given of presentedKeys(headers, byPassword).map(digest)) {
      for (const one of this.known) if (timingSafeEqual(given, one.digest)) name ??= one.name;
    }
    return name;
  }
}

/** All keys of a request: clients may send several, and only one of them is meant for this server. */
export function presentedKeys(headers: Headers, byPassword = false): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  const passwords = byPassword ? passwordsIn(headers) : [];
  return [bearer, headers.get("x-api-key"), ...passwords, ...keyProtocols(headers)].filter(
    (key): key is string => typeof key === "string" && key !== "",
  );
}

/** User and password of Basic authentication. */
function passwordsIn(headers: Headers): (string | undefined)[] {
  const encoded = /^basic +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  const [user, ...password] = Buffer.from(encoded, "base64").toString().split(":");
  return [user, password.join(":")];
}

const KEY_PROTOCOL = /^openai-insecure-api-key\.(\S+)$/;

/** What a page offers as a subprotocol of its socket, for which it can set no header. */
const keyProtocols = (headers: Headers): (string | undefined)[] =>
  protocolsOf(headers).map((protocol) => KEY_PROTOCOL.exec(protocol)?.[1]);
