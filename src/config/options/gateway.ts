// Options for upstreams and their models.

import { parsePorts, parseUpstreams } from "../upstream-option.ts";
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
      example: ["11434"],
      to: parsePorts,
      help: "Loopback port on which to discover servers. Default: the usual ports of such servers and, under Linux, ports in ranges common for web servers that a program listens on.",
    }),
    upstreams: list({
      name: "upstream",
      placeholder: "NAME=URL",
      example: ["gpu=http://192.168.1.20:8080"],
      to: parseUpstreams,
      help: "Upstream whose models are served as NAME/model. Repeating a name adds a replica.",
    }),
    keys: list({
      name: "upstream-key",
      secret: true,
      placeholder: "NAME=KEY",
      example: ["gpu=change-me"],
      help: "Bearer token for an upstream. Every user of the machine can read the command line, so set it in the environment or the config file.",
    }),
    hedge: boolean({
      name: "upstream-hedge",
      default: false,
      help: "Also send a request to a second replica when its first token takes longer than 99 % of the first tokens of its own replica; at most 5 % of requests.",
    }),
    timeoutMs: seconds(0.1, 86_400, {
      name: "upstream-timeout",
      default: 300,
      help: "Maximum seconds of silence from an upstream, before or during an answer.",
    }),
  },
  serveModel: boolean({
    name: "no-model",
    default: false,
    to: (none) => !none,
    help: "Load no chat model at the start: only models of upstreams and those of --chat-model and --pulled-models answer chats. Requests that name no model get the first --chat-model, else the model that was downloaded first, else an upstream's.",
  }),
};
