// Typical work of a Codex user, with the scripted model.

import type { GenerateRequest } from "../../src/domain/generate.ts";
import { check, equal, ok, same } from "../clients/checks.ts";
import { fakeModel } from "../support/fake-text-engine.ts";
import { Codex } from "./codex.ts";
import { allServed } from "./exchanges.ts";
import { goesOn } from "./prompts.ts";
import { say, call, tell, tooLong, type ScriptedModel } from "./scripted.ts";
import { FRUIT_SERVER, redPicture, startsTalking } from "./things.ts";

const shell = (cmd: string) => ({ name: "exec_command", arguments: { cmd } });

/** Prints one line per check. Resolves with the prompts of a conversation of two turns, the first one with a call. */
export async function codexChecks(model: ScriptedModel): Promise<readonly GenerateRequest[]> {
  let conversation: readonly GenerateRequest[] = [];
  const codex = new Codex(model.url);
  const { space } = codex;
  const { engine } = model;
  const word = crypto.randomUUID();
  space.write("work/word.txt", word);
  const served = () => {
    model.allPlayed();
    allServed(model.exchanges.take());
  };

  await check("codex: a plain answer", async () => {
    model.play(say("Hello ", "there."));
    const { answer, events } = await codex.exec(["Say hello."]);
    equal(answer, "Hello there.");
    ok(
      events.some(({ item }) => item?.type === "reasoning"),
      "no reasoning",
    );
    served();
  });

  await check("codex: a command's output comes back, and the next prompt goes on from the one before", async () => {
    model.play(call(shell("cat word.txt")), tell);
    const { answer } = await codex.exec(["What does word.txt say?"]);
    ok(answer.includes(word), answer);
    goesOn(engine.requests);
    served();
  });

  await check("codex: two calls in one answer", async () => {
    model.play(call(shell("cat word.txt"), shell("echo $((40 + 2)) apples")), tell);
    const { answer } = await codex.exec(["Look twice."]);
    ok(answer.includes(word) && answer.includes("42 apples"), answer);
    served();
  });

  await check("codex: a resumed conversation goes on from the last prompt", async () => {
    model.play(call(shell("cat word.txt")), tell, say("You are welcome."));
    await codex.exec(["What does word.txt say?"]);
    const { answer } = await codex.exec(["resume", "--last", "Thank you."]);
    equal(answer, "You are welcome.");
    goesOn(engine.requests);
    conversation = [...engine.requests];
    equal(engine.requests.at(-1)?.messages.at(-1)?.content, "Thank you.");
    served();
  });

  await check("codex: vendor tools are left out, the others are there", async () => {
    model.play(say("Fine."));
    await codex.exec(["Say fine."]);
    const [exchange] = model.exchanges.take();
    const asked = JSON.parse(exchange?.body ?? "{}") as { tools: { type: string; name?: string }[] };
    const vendor = asked.tools.filter(({ type }) => type !== "function" && type !== "namespace");
    same(
      vendor.map(({ type }) => type),
      ["web_search"],
    );
    const names = engine.requests[0]?.tools.map(({ name }) => name) ?? [];
    for (const { type, name } of asked.tools)
      if (type === "function") ok(names.includes(name ?? ""), `${name} is gone`);
    ok(names.includes("multi_agent_v1__spawn_agent"), names.join(" "));
  });

  await check("codex: a tool of an MCP server, which comes in a namespace", async () => {
    const settings = `[mcp_servers.shop]\ncommand = "node"\nargs = [${JSON.stringify(FRUIT_SERVER)}]\n`;
    const shopper = new Codex(model.url, settings);
    model.play(call({ name: "mcp__shop__fruit", arguments: { who: word } }), tell);
    const { answer } = await shopper.exec(["--dangerously-bypass-approvals-and-sandbox", "Buy fruit."]);
    ok(answer.includes(`a plum for ${word}`), answer);
    shopper.space.remove();
    served();
  });

  await check("codex: an image", async () => {
    model.play(say("Red."));
    await codex.exec(["-i", space.write("red.png", redPicture()), "--", "Which colour is it?"]);
    equal(engine.requests[0]?.media?.length, 1);
    served();
  });

  await check("codex: an answer by a schema", async () => {
    const schema = {
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
      additionalProperties: false,
    };
    model.play(say('{"n": 7}'));
    const { answer } = await codex.exec([
      "--output-schema",
      space.write("n.json", JSON.stringify(schema)),
      "A number?",
    ]);
    equal(answer, '{"n": 7}');
    ok(engine.requests[0]?.constraint?.schema, "no schema");
    served();
  });

  await check("codex: a conversation that no longer fits is told as that", async () => {
    model.play(tooLong);
    const { status, events } = await codex.exec(["A long question."], { refused: true });
    equal(status, 1);
    const told = events.findLast(({ type }) => type === "error")?.message;
    ok(told?.includes("ran out of room in the model's context window"), String(told));
    equal(model.exchanges.take().length, 1);
  });

  await check("codex --oss: the version and the model are found, and nothing is pulled", async () => {
    model.play(call(shell("cat word.txt")), tell);
    const flags = ["--oss", "--local-provider", "ollama", "-m", fakeModel.id, "What does word.txt say?"];
    const { answer } = await codex.exec(flags, { env: { CODEX_OSS_BASE_URL: `${model.url}/v1` } });
    ok(answer.includes(word), answer);
    served();
  });

  await check("codex: an interrupt ends the answer in the engine", async () => {
    const { turn, talking, left } = startsTalking();
    model.play(turn);
    await codex.exec(["Tell a long story."], { interrupt: talking });
    await left(engine);
  });

  space.remove();
  return conversation;
}
