// Issues short-lived secrets that open live sessions: a page gets one from its own server, which keeps the API key.

import type { Clock } from "../domain/clock.ts";
import { SvcError } from "../domain/errors.ts";
import { CLIENT_SECRET_PREFIX, newClientSecret } from "../domain/ids.ts";
import type { ClientSecret } from "../domain/live.ts";

/** Maximum number of secrets valid at the same time. */
export const MOST_SECRETS = 1000;

export class ClientSecrets {
  /** Secrets by value. */
  private readonly secrets = new Map<string, ClientSecret>();

  constructor(private readonly clock: Clock) {}

  /** Returns a new secret valid for `seconds`. Throws SvcError `rate_limit_exceeded` when there are too many. */
  create(secret: Pick<ClientSecret, "settings" | "apiKey">, seconds: number): ClientSecret {
    const now = this.clock.wall() / 1000;
    for (const { value, expiresAt } of this.secrets.values()) if (expiresAt <= now) this.secrets.delete(value);
    if (this.secrets.size >= MOST_SECRETS) {
      const message = `There are ${MOST_SECRETS} client secrets that have not expired, which is the maximum.`;
      throw new SvcError("rate_limit_exceeded", message);
    }
    const made = { ...secret, value: newClientSecret(), expiresAt: Math.floor(now) + seconds };
    this.secrets.set(made.value, made);
    return made;
  }

  /**
   * Returns the client secret among the keys that a client sent; undefined if none of them is a client secret. Throws
   * SvcError `invalid_api_key` about an unknown or expired one.
   */
  find(keys: readonly string[]): ClientSecret | undefined {
    const value = keys.find((key) => key.startsWith(CLIENT_SECRET_PREFIX));
    if (value === undefined) return undefined;
    const secret = this.secrets.get(value);
    if (secret && secret.expiresAt > this.clock.wall() / 1000) return secret;
    throw new SvcError("invalid_api_key", "The client secret is not one of this server's, or has expired.");
  }
}
