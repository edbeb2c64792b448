// Starts real vLLM servers on loopback with the tiny model.

import { killAtExit } from "../../support/kill-at-exit.ts";

export interface VllmServer {
  readonly url: string;
  readonly pid: number;
  /** How many requests the server is computing, as it reports. */
  running(): Promise<number>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<unknown>;
}

const START_MS = 15 * 60_000;

/** The first requests, and the first with a grammar, take a server tens of seconds on a busy machine. */
async function warmUp(url: string): Promise<void> {
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
  const tool_choice = { type: "function", function: { name: "f" } };
  for (const extra of [{}, { tools, tool_choice }]) {
    const body = { model: "tiny", messages: [{ role: "user", content: "hi" }], max_tokens: 8, ...extra };
    const headers = { "content-type": "application/json" };
    await (await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) })).text();
  }
}

/**
 * Starts a server and resolves when it answers. `python` belongs to an environment with vLLM. Throws with the
 * server's output when it ends.
 */
export async function startVllm(python: string, model: string, port: number): Promise<VllmServer> {
  const options =
    `--model ${model} --served-model-name tiny --host 127.0.0.1 --port ${port} --max-model-len 4096 --max-num-seqs 32 ` +
    "--enforce-eager --enable-prompt-tokens-details --enable-auto-tool-choice --tool-call-parser hermes " +
    "--disable-uvicorn-access-log";
  const child = Bun.spawn([python, "-m", "vllm.entrypoints.openai.api_server", ...options.split(" ")], {
    // A process group of its own, because vLLM's engine is a separate process that must stop and die with it.
    detached: true,
    env: { ...process.env, VLLM_CPU_KVCACHE_SPACE: "1", VLLM_CPU_OMP_THREADS_BIND: "nobind", OMP_NUM_THREADS: "1" },
    stdout: Bun.file(`${model}/server-${port}.log`),
    stderr: Bun.file(`${model}/server-${port}.err`),
  });
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The server has already ended.
    }
  };
  killAtExit({ kill });
  const url = `http://127.0.0.1:${port}`;
  for (const until = performance.now() + START_MS; performance.now() < until; await Bun.sleep(500)) {
    if (child.exitCode !== null) throw new Error((await Bun.file(`${model}/server-${port}.err`).text()).slice(-3000));
    if (
      await fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
  }
  await warmUp(url);
  const running = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^vllm:num_requests_running\{[^}]*\} (\S+)$/m.exec(text)?.[1]);
  };
  return { url, pid: child.pid, running, kill, ended: child.exited };
}
