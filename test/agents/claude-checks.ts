// Typical work of a Claude Code user, with the scripted model.

import type { GenerateRequest } from "../../src/domain/generate.ts";
import { check, equal, ok, same } from "../clients/checks.ts";
import { Claude } from "./claude.ts";
import { allServed } from "./exchanges.ts";
import { goesOn } from "./prompts.ts";
import { say, call, tell, tooLong, type ScriptedModel } from "./scripted.ts";
import { FRUIT_SERVER, redPicture, startsTalking } from "./things.ts";

const shell = (command: string) => ({ name: "Bash", arguments: { command, description: "Looks" } });

/** Prints one line per check. Resolves with the prompts of a conversation of two turns, the first one with a call. */
export async function claudeChecks(model: ScriptedModel): Promise<readonly GenerateRequest[]> {
  let conversation: readonly GenerateRequest[] = [];
  const claude = new Claude(model.url);
  const { space } = claude;
  const { engine } = model;
  const word = crypto.randomUUID();
  space.write("work/word.txt", word);
  const served = () => {
    model.allPlayed();
    allServed(model.exchanges.take());
  };
  const includes = (text: string | undefined, ...parts: string[]) =>
    ok(
      parts.every((part) => text?.includes(part)),
      String(text),
    );

  await check("claude: a plain answer, its thoughts shown", async () => {
    model.play(say("Hello ", "there."));
    const { result, thoughts } = await claude.print(["Say hello."]);
    equal(result?.result, "Hello there.");
    same(thoughts, ["I think about it."]);
    served();
  });

  await check("claude: a command's output comes back, and the next prompt goes on from the one before", async () => {
    model.play(call(shell("cat word.txt")), tell);
    const { result } = await claude.print(["--allowedTools", "Bash", "--", "What does word.txt say?"]);
    includes(result?.result, word);
    goesOn(engine.requests);
    served();
  });

  await check("claude: two calls in one answer", async () => {
    model.play(call(shell("cat word.txt"), shell("echo $((40 + 2)) apples")), tell);
    const { result } = await claude.print(["--allowedTools", "Bash", "--", "Look twice."]);
    includes(result?.result, word, "42 apples");
    served();
  });

  await check("claude: a continued conversation goes on from the last prompt", async () => {
    model.play(call(shell("cat word.txt")), tell, say("You are welcome."));
    await claude.print(["--allowedTools", "Bash", "--", "What does word.txt say?"]);
    const { result } = await claude.print(["--continue", "Thank you."]);
    equal(result?.result, "You are welcome.");
    goesOn(engine.requests);
    conversation = [...engine.requests];
    served();
  });

  await check(
    "claude: another conversation in the same place begins with the same system prompt and tools",
    async () => {
      model.play(say("One."), say("Two."));
      await claude.print(["Say one."]);
      await claude.print(["Say two."]);
      const [one, two] = engine.requests;
      same(two?.messages[0], one?.messages[0]);
      same(two?.tools, one?.tools);
      ok(
        one?.messages[0]?.role === "system" && !/billing/i.test(String(one.messages[0].content)),
        "a line that changes",
      );
      served();
    },
  );

  await check("claude: tools that it loads on demand leave the prompt before them as it was", async () => {
    const search = { name: "ToolSearch", arguments: { query: "select:CronList", max_results: 3 } };
    model.play(call(search), call({ name: "CronList", arguments: {} }), tell);
    const { result } = await claude.print(["--allowedTools", "CronList", "--", "Any jobs?"]);
    includes(result?.result, "No scheduled jobs");
    goesOn(engine.requests);
    ok(!engine.requests[0]?.tools.some(({ name }) => name === "CronList"), "it was not held back");
    served();
  });

  await check("claude: a tool of an MCP server", async () => {
    const servers = { mcpServers: { shop: { command: "node", args: [FRUIT_SERVER] } } };
    const config = space.write("mcp.json", JSON.stringify(servers));
    const tool = "mcp__shop__fruit";
    model.play(call({ name: tool, arguments: { who: word } }), tell);
    const env = { ENABLE_TOOL_SEARCH: "false", MCP_CONNECTION_NONBLOCKING: "0" };
    const flags = ["--mcp-config", config, "--allowedTools", tool, "--", "Buy fruit."];
    const { result } = await claude.print(flags, { env });
    includes(result?.result, `a plum for ${word}`);
    served();
  });

  await check("claude: an image that it reads", async () => {
    const file = space.write("work/red.png", redPicture());
    model.play(call({ name: "Read", arguments: { file_path: file } }), say("Red."));
    await claude.print(["Which colour is red.png?"]);
    equal(engine.requests[1]?.media?.length, 1);
    served();
  });

  await check("claude: an answer by a schema", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    model.play(call({ name: "StructuredOutput", arguments: { n: 7 } }));
    const { result } = await claude.print(["--json-schema", JSON.stringify(schema), "--", "A number?"]);
    same(result?.structured_output, { n: 7 });
    served();
  });

  await check("claude: it counts tokens and lists models", async () => {
    model.play();
    const env = { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: "1" };
    await claude.command("/context", env);
    const exchanges = model.exchanges.take();
    for (const path of ["/v1/messages/count_tokens?beta=true", "/v1/models?limit=1000"]) {
      ok(
        exchanges.some((exchange) => exchange.path === path),
        `no ${path}`,
      );
    }
    allServed(exchanges);
  });

  await check("claude: a conversation that no longer fits is shortened, and goes on", async () => {
    model.play(say("One."), say("Two."), tooLong, say("<summary>They counted.</summary>"), say("Four."));
    await claude.print(["Say one."]);
    await claude.print(["--continue", "Say two."]);
    const { result, status } = await claude.print(["--continue", "Say four."], { refused: true });
    same([status, result?.result], [0, "Four."]);
    ok(JSON.stringify(engine.requests.at(-1)?.messages).includes("They counted."), "the summary is not in the prompt");
    model.allPlayed();
  });

  await check("claude: an interrupt ends the answer in the engine", async () => {
    const { turn, talking, left } = startsTalking();
    model.play(turn);
    await claude.print(["Tell a long story."], { interrupt: talking });
    await left(engine);
  });

  space.remove();
  return conversation;
}
