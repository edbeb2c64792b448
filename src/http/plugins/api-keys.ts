// Decides who may call a server whose operator has issued API keys.

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
   * Returns the name of the request's key; undefined on a server without keys. `byPassword`: the key may be the user or
   * the password of Basic authentication. Throws SvcError `invalid_api_key`.
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

  /** Returns the same for requests that do not need a key. */
  nameOf(headers: Headers, byPassword = false): string | undefined {
    if (this.known.length === 0) return undefined;
    let name: string | undefined;
    // Compares with all keys, so that the time taken reveals nothing about them.
    for (const given of presentedKeys(headers, byPassword).map(digest)) {
      for (const one of this.known) if (timingSafeEqual(given, one.digest)) name ??= one.name;
    }
    return name;
  }
}

/** Returns all keys of a request: clients may send several, of which only one is for this server. */
export function presentedKeys(headers: Headers, byPassword = false): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  const passwords = byPassword ? passwordsIn(headers) : [];
  return [bearer, headers.get("x-api-key"), ...passwords, ...keyProtocols(headers)].filter(
    (key): key is string => typeof key === "string" && key !== "",
  );
}

/** Returns user and password of Basic authentication. */
function passwordsIn(headers: Headers): (string | undefined)[] {
  const encoded = /^basic +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  const [user, ...password] = Buffer.from(encoded, "base64").toString().split(":");
  return [user, password.join(":")];
}

const KEY_PROTOCOL = /^openai-insecure-api-key\.(\S+)$/;

/** Returns keys that a page sends as subprotocols of its socket, because it cannot set headers. */
const keyProtocols = (headers: Headers): (string | undefined)[] =>
  protocolsOf(headers).map((protocol) => KEY_PROTOCOL.exec(protocol)?.[1]);
