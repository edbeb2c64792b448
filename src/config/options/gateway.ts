// Models of other servers.

import type { Option } from "../option.ts";

export const gatewayOptions: readonly Option[] = [
  {
    name: "gateway",
    aliases: ["g"],
    group: "Gateway",
    type: "boolean",
    default: false,
    help: "Look for other model servers on this machine (Ollama, LM Studio, Jan, mlx-lm, llama.cpp, vLLM, …) and serve their models as well.",
  },
  {
    name: "gateway-port",
    group: "Gateway",
    type: "list",
    placeholder: "PORT",
    help: "Look at these loopback ports only, instead of the usual ones and whatever listens.",
  },
  {
    name: "upstream",
    group: "Gateway",
    type: "list",
    placeholder: "NAME=URL",
    help: "Serve the models of this server as NAME/model. The same name again adds a replica.",
  },
  {
    name: "upstream-key",
    secret: true,
    group: "Gateway",
    type: "list",
    placeholder: "NAME=KEY",
    help: "Bearer token for an upstream. Everybody on the machine can read the command line: put it into the environment or the config file.",
  },
  {
    name: "upstream-timeout",
    group: "Gateway",
    type: "number",
    minimum: 0.1,
    maximum: 86_400,
    default: 300,
    help: "Seconds that an upstream may be silent before or within an answer.",
  },
  {
    name: "no-model",
    group: "Gateway",
    type: "boolean",
    default: false,
    help: "Load no model here: only other servers' models are served.",
  },
];
