// Creates the gateway to other servers' models from a Config.

import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { isLoopback } from "../config/host-name.ts";
import { proxyFor } from "../config/proxy.ts";
import type { Clock } from "../domain/clock.ts";
import { Discovery, type SearchOptions } from "../gateway/discovery.ts";
import { Gateway } from "../gateway/gateway.ts";
import { listeningPorts } from "../gateway/listening-ports.ts";
import { Replica } from "../gateway/replica.ts";
import type { Timeouts } from "../gateway/server-client.ts";
import { Upstream } from "../gateway/upstream.ts";
import type { Logger } from "../telemetry/log.ts";

const CONNECT_MS = 3000;

/** Creates the gateway; it is empty while the configuration names no upstreams and discovery is off. */
export function createGateway(config: Config, clock: Clock, log: Logger): Gateway {
  const { discover, ports } = config.gateway;
  const discovery = discover ? new Discovery({ ports, listeningPorts, ...searchOf(config), clock }) : undefined;
  return new Gateway({ configured: upstreamsOf(config, clock), ...(discovery && { discovery }), clock, log });
}

/** Applies another configuration's upstreams; resolves when the new ones have answered or timed out. */
export async function reconfigureGateway(gateway: Gateway, config: Config, clock: Clock): Promise<void> {
  await gateway.reconfigure(upstreamsOf(config, clock), searchOf(config));
}

function upstreamsOf(config: Config, clock: Clock): Upstream[] {
  const timeouts = timeoutsOf(config);
  return config.gateway.upstreams.map(({ name, urls, key }) => {
    const replicas = urls.map((url) => {
      const proxy = proxyFor(url, processEnvironment());
      const address = { url, ...(proxy !== undefined && { proxy }), ...(key !== undefined && { key }) };
      return new Replica(address, timeouts, clock);
    });
    return new Upstream(name, replicas, true, { hedge: config.gateway.hedge });
  });
}

const timeoutsOf = ({ gateway: { timeoutMs } }: Config): Timeouts => ({
  connectMs: Math.min(CONNECT_MS, timeoutMs),
  silenceMs: timeoutMs,
});

function searchOf(config: Config): SearchOptions {
  const named = config.gateway.upstreams
    .flatMap(({ urls }) => urls.map((url) => new URL(url)))
    .filter(({ hostname }) => isLoopback(hostname))
    .map(({ port, protocol }) => Number(port || (protocol === "https:" ? 443 : 80)));
  return { named, names: config.gateway.upstreams.map(({ name }) => name), timeouts: timeoutsOf(config) };
}
