// Models of other servers.

import { parsePorts, parseUpstreams } from "../gateway.ts";
import { boolean, list, seconds } from "../option-types.ts";

export const gatewayOptions = {
  gateway: {
    discover: boolean({
      name: "gateway",
      aliases: ["g"],
      default: false,
      help: "Look for other model servers on this machine (Ollama, LM Studio, Jan, mlx-lm, llama.cpp, vLLM, …) and serve their models as well.",
    }),
    ports: list({
      name: "gateway-port",
      placeholder: "PORT",
      to: parsePorts,
      help: "Look at these loopback ports only, instead of the usual ones and whatever listens.",
    }),
    upstreams: list({
      name: "upstream",
      placeholder: "NAME=URL",
      to: parseUpstreams,
      help: "Serve the models of this server as NAME/model. The same name again adds a replica.",
    }),
    keys: list({
      name: "upstream-key",
      secret: true,
      placeholder: "NAME=KEY",
      help: "Bearer token for an upstream. Everybody on the machine can read the command line: put it into the environment or the config file.",
    }),
    timeoutMs: seconds(0.1, 86_400, {
      name: "upstream-timeout",
      default: 300,
      help: "Seconds that an upstream may be silent before or within an answer.",
    }),
  },
  serveModel: boolean({
    name: "no-model",
    default: false,
    to: (none) => !none,
    help: "Load no model here: only other servers' models are served.",
  }),
};
