// `svc launch AGENT`: starts a coding agent against the server at --host and --port, or against one of its own.

import { X509Certificate } from "node:crypto";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Config } from "../config/config.ts";
import { environmentOf, type Environment } from "../config/environment.ts";
import { didYouMean, UsageError } from "../config/parse.ts";
import { availableMemory } from "../engine/process/machine.ts";
import { findProgram, ProgramError, runAttached } from "../engine/process/program.ts";
import { modelId } from "../model/model-file.ts";
import { ModelStore } from "../store/models/model-store.ts";
import { removeAbandoned, TemporaryFolder } from "../store/temporary-folder.ts";
import { createLogger, isLogged, type Logger } from "../telemetry/log.ts";
import { isFor, trusting } from "./agent-trust.ts";
import { agents, type Agent } from "./agents.ts";
import { ExitError, orExit } from "./exit-codes.ts";
import { fetchListing, type Listing } from "./models.ts";
import { readStore } from "./named-model.ts";
import { whileServing } from "./open-server.ts";
import { askServer, serverUrl } from "./running-server.ts";
import { writeWarning } from "./terminal.ts";
import { fileSize } from "../domain/file-size.ts";
import { own } from "../domain/own.ts";
import { fileReason } from "../domain/system-error-code.ts";

/**
 * Recommended minimum context in tokens. The first prompt of an agent has up to 25,000; in a smaller context, the agent
 * constantly drops its history.
 */
const LEAST_CONTEXT = 32_768;

/** Parameter count below which models cannot follow the long instructions of an agent. */
const LEAST_PARAMETERS = 1e9;

/** Models on Hugging Face that call tools, the largest first. */
const TOOL_MODELS = [
  { name: "unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF", bytes: 18.6e9 },
  { name: "ggml-org/gpt-oss-20b-GGUF", bytes: 12.1e9 },
  { name: "Qwen/Qwen3-8B-GGUF", bytes: 5e9 },
  { name: "Qwen/Qwen3-4B-GGUF", bytes: 2.5e9 },
];
/** Bytes needed besides the weights: a context of the minimum size, and the agent. */
const BESIDE_WEIGHTS = 4e9;

/** The model that the options name. */
interface Wanted {
  /** The name as the user wrote it. */
  readonly name: string;
  /** Ids that a server may use for this model, including `name`. */
  readonly ids: readonly string[];
  /** Whether the command line named it. Otherwise the environment or config file did, perhaps for another server. */
  readonly isAsked: boolean;
}

/**
 * Runs the agent with these arguments in the user's environment and returns its exit code. `isModelAsked`: --model is
 * on the command line. Throws UsageError and ExitError.
 */
export async function launch(
  config: Config,
  [name = "", ...args]: readonly string[],
  user: Environment,
  isModelAsked: boolean,
): Promise<number> {
  const agent = agentOf(name);
  const program = findProgram(agent.program);
  if (program === undefined) {
    throw new ExitError("failure", `${agent.program} is not on the PATH. Install it with: ${agent.install}`);
  }
  const start = (where: Config, wanted?: Wanted) => startAgent(agent, [program, ...args], where, wanted, user);
  if (await isServing(config)) return start(config, wantedModel(config, isModelAsked));
  if (config.model === undefined && config.serveModel) {
    throw new ExitError(
      "usage",
      `No server answers at ${serverUrl(config)}. Start one, or name the model: svc launch ${name} --model MODEL. ${suggestions()}`,
    );
  }
  return whileServing(config, fileLog(config), (port) => start({ ...config, port }));
}

function agentOf(name: string): Agent {
  const agent = own(agents, name);
  if (agent) return agent;
  const known = Object.keys(agents);
  throw new UsageError(`svc launch knows ${known.join(", ")}, not "${name.slice(0, 20)}".${didYouMean(name, known)}`);
}

async function isServing(config: Config): Promise<boolean> {
  try {
    await askServer(config, "/health");
    return true;
  } catch {
    return false;
  }
}

async function startAgent(
  agent: Agent,
  [program = "", ...args]: readonly string[],
  config: Config,
  wanted: Wanted | undefined,
  user: Environment,
): Promise<number> {
  const url = serverUrl(config);
  const { id: model, context, warnings: doubts } = choose(await fetchListing(config), agent, wanted);
  const warnings = [...doubts, ...certificateWarning(config.tls?.cert, url, agent)];
  for (const warning of warnings) writeWarning(warning, config);
  // Waits for Enter, since the agent is about to clear the screen.
  const isWarned = warnings.length > 0 && isLogged("warn", config.logLevel);
  if (isWarned && process.stdin.isTTY) prompt("svc: Press Enter to start it anyway, or Ctrl-C to stop.");
  const temporary = tmpdir();
  removeAbandoned(temporary);
  const folder = orExit(
    () => new TemporaryFolder(temporary, "launch"),
    (error) => `A folder in ${temporary} cannot be created: ${fileReason(error)}. Set TMPDIR to another.`,
  );
  const write = (name: string, text: string) => {
    const path = join(folder.path, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  try {
    const target = { url, apiKey: config.apiKeys[0]?.key ?? "none", model, context };
    const settings = agent.settings(target, write);
    const trust = config.tls && trusting(agent, config.tls.cert, user, write);
    return await runAttached([program, ...settings.args, ...args], environmentOf(user, { ...settings.env, ...trust }));
  } catch (error) {
    throw error instanceof ProgramError ? new ExitError("failure", `${program}: ${error.message}.`) : error;
  } finally {
    folder.remove();
  }
}

interface Choice {
  readonly id: string;
  readonly context: number | undefined;
  readonly warnings: readonly string[];
}

/**
 * Returns the ids that a server may use for the model of --model: the name, those of its files, and the --alias names
 * unless the command line named the model. Undefined without a model.
 */
export function wantedModel(
  { model: name, alias, modelsDir }: Pick<Config, "model" | "alias" | "modelsDir">,
  isAsked: boolean,
): Wanted | undefined {
  if (name === undefined) return undefined;
  const found = isAbsolute(name) ? [] : readStore(() => new ModelStore(modelsDir).findAll(name));
  const files = [name, ...found.flatMap(({ files: [first] }) => first?.path ?? [])];
  return { name, ids: [name, ...files.map(modelId), ...(isAsked ? [] : alias)], isAsked };
}

/** Selects the wanted model, else the first chat model, with warnings about the choice. Throws ExitError. */
export function choose({ data, models = [] }: Listing, agent: Agent, wanted: Wanted | undefined): Choice {
  const details = new Map(models.map((one) => [one.name, one]));
  const chats = data.filter(({ id }) => details.get(id)?.capabilities.includes("chat") ?? true);
  const served = chats.map(({ id }) => id).join(", ") || "no chat model";
  const named = chats.find(({ id, aliases = [] }) => [id, ...aliases].some((one) => wanted?.ids.includes(one)));
  const found = named ?? (wanted?.isAsked ? undefined : chats[0]);
  const missing = wanted && !named ? `The server serves ${served}, but not ${wanted.name}` : undefined;
  if (!found) throw new ExitError("failure", `${missing ?? `The server serves ${served}`}.`);
  const { id, max_context_length: context } = found;
  const elsewhere =
    missing === undefined ? [] : [`${missing}, which SVC_MODEL or the config file names: ${id} is used.`];
  return {
    id,
    context,
    warnings: [...elsewhere, ...contextWarning(id, context), ...abilityWarning(id, agent, details.get(id))],
  };
}

const contextWarning = (id: string, context: number | undefined): string[] =>
  context === undefined || context >= LEAST_CONTEXT
    ? []
    : [
        `${id} takes ${context} tokens per request, but agents need ${LEAST_CONTEXT} or more: serve it with --ctx 65536.`,
      ];

function abilityWarning(id: string, agent: Agent, known: NonNullable<Listing["models"]>[number] | undefined): string[] {
  if (known?.parameters !== undefined && known.parameters < LEAST_PARAMETERS) {
    const size = `${(known.parameters / 1e6).toFixed(0)} million parameters`;
    return [`${id} is too small to work as an agent: it has ${size}. ${suggestions()}`];
  }
  if (!known || known.capabilities.includes("tools") || !agent.callsTools) return [];
  return [`${id} does not call tools, which ${agent.program} needs. ${suggestions()}`];
}

const certificateWarning = (cert: string | undefined, url: string, { program }: Agent): string[] =>
  cert === undefined || isFor(new X509Certificate(cert), url)
    ? []
    : [`The certificate is not for the host of ${url}, and ${program} may refuse it: name that host with --host.`];

function suggestions(): string {
  const memory = availableMemory();
  const fitting = TOOL_MODELS.filter(({ bytes }) => bytes + BESIDE_WEIGHTS < memory);
  const shown = fitting.length > 0 ? fitting : TOOL_MODELS.slice(-1);
  const list = shown.map(({ name, bytes }) => `svc pull ${name} (${fileSize(bytes)})`).join(", ");
  return `Models that call tools${fitting.length > 0 ? " and fit the memory" : ""}: ${list}.`;
}

/** Returns a logger that writes to a file, since the agent uses the terminal. Throws ExitError. */
function fileLog({ dataDir, logLevel: level, logFormat: format }: Config): Logger {
  const path = join(dataDir, "launch.log");
  orExit(
    () => {
      mkdirSync(dataDir, { recursive: true });
      writeFileSync(path, "", { mode: 0o600 });
    },
    (error) => `The log ${path} cannot be written: ${fileReason(error)}. Choose another folder with --data-dir.`,
  );
  return createLogger({ level, format, write: (line) => appendFileSync(path, line), now: Date.now });
}
