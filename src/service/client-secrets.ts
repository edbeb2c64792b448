// Issues short-lived secrets that open live sessions: a page gets one from its own server, which keeps the API key.

import type { Clock } from "../domain/clock.ts";
import { SvcError } from "../domain/errors.ts";
import { CLIENT_SECRET_PREFIX, newClientSecret } from "../domain/ids.ts";
import type { ClientSecret } from "../domain/live.ts";
import { givingWay } from "./giving-way.ts";

/** Maximum number of secrets valid at the same time. */
export const MOST_SECRETS = 1000;

interface HeldSecret extends ClientSecret {
  /** The client that created the secret. */
  readonly holder: string;
}

export class ClientSecrets {
  /** Secrets by value, the oldest first. */
  private readonly secrets = new Map<string, HeldSecret>();

  constructor(private readonly clock: Clock) {}

  /**
   * Returns a new secret valid for `seconds`. When there are too many, the oldest of a client that has more than its share
   * makes way for one of a client that has less. Throws SvcError `rate_limit_exceeded` when there is none.
   */
  create(secret: Omit<HeldSecret, "value" | "expiresAt">, seconds: number): ClientSecret {
    const now = this.clock.wall() / 1000;
    for (const { value, expiresAt } of this.secrets.values()) if (expiresAt <= now) this.secrets.delete(value);
    if (this.secrets.size >= MOST_SECRETS && !this.makeWay(secret.holder)) {
      const message = `There are ${MOST_SECRETS} client secrets that have not expired, which is the maximum.`;
      throw new SvcError("rate_limit_exceeded", message);
    }
    const made = { ...secret, value: newClientSecret(), expiresAt: Math.floor(now) + seconds };
    this.secrets.set(made.value, made);
    return made;
  }

  private makeWay(client: string): boolean {
    const secrets = this.secrets.values();
    const [giver] = givingWay(
      secrets.map(({ holder }) => holder),
      client,
      MOST_SECRETS,
    );
    const oldest = this.secrets.values().find(({ holder }) => holder === giver);
    return oldest !== undefined && this.secrets.delete(oldest.value);
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
