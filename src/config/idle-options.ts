// Options that have no effect on a server because of another one. They are reported, but are no errors, since a config
// file may hold them for other calls.

import type { Config } from "./config.ts";
import { isGiven, type Values } from "./parse.ts";
import { namesWithoutUpstream } from "./upstream-option.ts";

type Row = readonly [options: readonly string[], circumstance: string, isSo: (config: Config) => boolean];

const IDLE: readonly Row[] = [
  [["prompt"], "on a server", () => true],
  [["instructions"], "without a prompt (-s)", () => true],
  [["gateway-port"], "without --gateway", ({ gateway }) => !gateway.discover],
  [["piper-voices"], "with --no-host-voices", ({ hostVoices }) => !hostVoices],
  [
    ["image-vae", "image-text-encoder", "image-taesd", "image-lora"],
    "without --image-model",
    ({ imageModels }) => imageModels.length === 0,
  ],
  [
    ["model", "lora", "worker", "mmproj", "draft", "alias", "kv-dir", "slot-save-path", "trace-file", "chat-template"],
    "with --no-model",
    ({ serveModel }) => !serveModel,
  ],
];

/** Returns a sentence about each option in `layers` that has no effect on a server with this configuration. */
export function idleOptions(layers: readonly Values[], config: Config): string[] {
  const isIn = (name: string) => layers.some((layer) => isGiven(layer.get(name)));
  const keys = layers.find((layer) => layer.has("upstream-key"))?.get("upstream-key") ?? [];
  const unused = namesWithoutUpstream(keys as readonly string[], config.gateway.upstreams);
  return [
    ...IDLE.filter(([, , isSo]) => isSo(config)).flatMap(([options, circumstance]) =>
      options.filter(isIn).map((name) => `--${name} has no effect ${circumstance}.`),
    ),
    ...unused.map((name) => `--upstream-key for "${name}" has no effect: no upstream has that name.`),
  ];
}
