// Every option of the program in one table. Parsing, help, environment variables, the config file and the README's
// table are all made from it. Its rows are in `options/`, one file a group of the help.

import type { Option } from "./option.ts";
import { engineOptions } from "./options/engine.ts";
import { gatewayOptions } from "./options/gateway.ts";
import { generationOptions } from "./options/generation.ts";
import { modelOptions } from "./options/model.ts";
import { oneShotOptions } from "./options/one-shot.ts";
import { outputOptions } from "./options/output.ts";
import { serverOptions } from "./options/server.ts";

export const options: readonly Option[] = [
  ...modelOptions,
  ...serverOptions,
  ...gatewayOptions,
  ...generationOptions,
  ...engineOptions,
  ...oneShotOptions,
  ...outputOptions,
];
