// Other servers' models, put together from a Config.

import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { isLoopback } from "../config/host-name.ts";
import { proxyFor } from "../config/proxy.ts";
import type { Clock } from "../domain/clock.ts";
import { Discovery } from "../gateway/discovery.ts";
import { Gateway } from "../gateway/gateway.ts";
import { listeningPorts } from "../gateway/listening-ports.ts";
import { Replica } from "../gateway/replica.ts";
import { Upstream } from "../gateway/upstream.ts";
import type { Logger } from "../telemetry/log.ts";

export interface GatewayParts {
  readonly gateway: Gateway;
  /** A port of ours is none at which another server is. */
  readonly exclude: (port: number) => void;
}

const CONNECT_MS = 3000;

/** Undefined when the configuration names no other server and does not ask to look for any. */
export function createGateway({ gateway: config }: Config, clock: Clock, log: Logger): GatewayParts | undefined {
  const { discover, ports, upstreams, timeoutMs } = config;
  if (!discover && upstreams.length === 0) return undefined;
  const timeouts = { connectMs: Math.min(CONNECT_MS, timeoutMs), silenceMs: timeoutMs };
  const configured = upstreams.map(({ name, urls, key }) => {
    const address = (url: string) => {
      const proxy = proxyFor(url, processEnvironment());
      return { url, ...(proxy !== undefined && { proxy }), ...(key !== undefined && { key }) };
    };
    return new Upstream(
      name,
      urls.map((url) => new Replica(address(url), timeouts, clock)),
      true,
    );
  });
  const discovery = discover ? new Discovery({ ports, listeningPorts, timeouts, clock }) : undefined;
  for (const url of upstreams.flatMap(({ urls }) => urls)) {
    const { hostname, port } = new URL(url);
    if (isLoopback(hostname)) discovery?.exclude(Number(port));
  }
  return {
    gateway: new Gateway({ configured, ...(discovery && { discovery }), clock, log }),
    exclude: (port) => discovery?.exclude(port),
  };
}
