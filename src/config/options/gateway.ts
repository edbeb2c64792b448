// Options for upstreams and their models.

import { parsePorts, parseUpstreams } from "../gateway.ts";
import { boolean, list, seconds } from "../option-types.ts";

export const gatewayOptions = {
  gateway: {
    discover: boolean({
      name: "gateway",
      aliases: ["g"],
      default: false,
      help: "Discover other model servers on this machine (Ollama, LM Studio, Jan, mlx-lm, llama.cpp, vLLM, SGLang, …) and serve their models as well.",
    }),
    ports: list({
      name: "gateway-port",
      placeholder: "PORT",
      to: parsePorts,
      help: "Loopback port to discover servers on, instead of the usual ports and every listening one.",
    }),
    upstreams: list({
      name: "upstream",
      placeholder: "NAME=URL",
      to: parseUpstreams,
      help: "Upstream whose models are served as NAME/model. Repeating a name adds a replica.",
    }),
    keys: list({
      name: "upstream-key",
      secret: true,
      placeholder: "NAME=KEY",
      help: "Bearer token for an upstream. Every user of the machine can read the command line: set it in the environment or the config file.",
    }),
    hedge: boolean({
      name: "upstream-hedge",
      default: false,
      help: "Send a request to a second replica as well when its first token takes longer than 99 of 100 do there; at most 5 % of requests.",
    }),
    timeoutMs: seconds(0.1, 86_400, {
      name: "upstream-timeout",
      default: 300,
      help: "Seconds that an upstream may be silent before or during an answer.",
    }),
  },
  serveModel: boolean({
    name: "no-model",
    default: false,
    to: (none) => !none,
    help: "Load no local model; serve upstreams only.",
  }),
};
