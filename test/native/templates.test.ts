// Chat templates of other models with their parsers (`fidelity.long.test.ts` tests each of them), random tool-call
// texts in those parsers, and svc-mini's own template.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { chat, library, load, prompt } from "./harness.ts";
import { WEATHER_CALL, ZONE_CALL, type Family } from "./templates/family.ts";
import {
  CHECKED_PARAMETERS,
  forcedCall,
  generateAnswer,
  HARD_PARAMETERS,
  MANY_TOOLS,
} from "./templates/own-answers.ts";
import { prompts } from "./templates/reading.ts";
import { readRandomTexts, tell, unknownViolations, type Tally, type Told } from "./templates/robustness.ts";
import { families, loadTemplate, missing, TEMPLATES } from "./templates/sources.ts";
import { tool, TOOLS } from "./templates/tools.ts";

/** One text of each kind; `bun test/native/templates/thousand.ts` tests more texts of more families. */
const RANDOM_TEXTS = 15;

let llama: NativeLlama;
beforeAll(() => {
  llama = library();
});

if (missing !== undefined) console.log(`skipped: ${missing}`);

describe.skipIf(missing !== undefined)("templates of other models", () => {
  test("every template belongs to one family", () => {
    const files = readdirSync(TEMPLATES).filter((name) => name.endsWith(".jinja"));
    const known = families.flatMap((family) => family.templates.map((template) => `${template}.jinja`));
    expect(known.toSorted()).toEqual(files.toSorted());
  });

  test.each(families.flatMap(({ name, calls }) => (calls ? [[name, calls] as const] : [])))(
    "%s: random texts are written in the same way as the manual ones",
    (_, { single, parallel, write }) => {
      expect(write([WEATHER_CALL])).toBe(single);
      if (parallel !== undefined) expect(write([WEATHER_CALL, ZONE_CALL])).toBe(parallel);
    },
  );
});

describe.skipIf(missing !== undefined)("ids of calls", () => {
  const ask = { role: "user", content: "hi" };
  const called = (...ids: string[]) => [
    ask,
    {
      role: "assistant",
      content: "",
      tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "get_weather", arguments: "{}" } })),
    },
    ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "dry" })),
  ];

  test.each(["mistralai-Mistral-Nemo-Instruct-2407", "Mistral-Small-3.2-24B-Instruct-2506"])(
    "%s takes nine characters alone: others become nine, the same each time",
    async (template) => {
      await loadTemplate(llama, template);
      const render = (...ids: string[]) => {
        const { tokens, sampler } = prompt(llama, chat(called(...ids), { tools: TOOLS }));
        if (sampler !== undefined) llama.freeSampler(sampler);
        return Buffer.concat([...tokens].map((token) => llama.piece(token, true))).toString("utf8");
      };
      expect(render("abcdefgh1")).toContain("abcdefgh1");
      const long = "call_0123456789abcdef01234567";
      expect(render(long)).toBe(render(long));
      const ids = render(long, "toolu_x").matchAll(/(?:"(?:call_)?id": "|\[CALL_ID\])([a-z0-9]{9})\b/g);
      expect(new Set([...ids].map(([, id]) => id)).size).toBe(2);
      llama.unload();
    },
  );
});

describe.skipIf(missing !== undefined)("random tool-call texts", () => {
  /** One family for each way to write calls, without those whose prompts take long. */
  const distinct = families.filter(
    ({ calls, slow }, index) => calls && !slow && families.findLastIndex((family) => family.calls === calls) === index,
  );
  const tallies = new Map<Family, Tally>();

  beforeAll(async () => {
    for (const family of distinct) {
      await loadTemplate(llama, family.templates[0] ?? "");
      tallies.set(family, readRandomTexts(llama, family, 1, RANDOM_TEXTS));
      llama.unload();
    }
  }, 300_000);

  const violations = (filter: (family: Family, violation: Tally["violations"][number]) => boolean) =>
    [...tallies].flatMap(([family, tally]) =>
      unknownViolations(family, tally).flatMap((one) =>
        filter(family, one) ? [`${family.name}: ${one.what} (${one.kind}): ${one.text}`] : [],
      ),
    );

  test("are read without an exception, and well-formed ones exactly", () => {
    expect(tallies.size).toBeGreaterThan(5);
    const plain = ["one call", "calls", "reasoning, call"];
    // Their parsers report a name before it is complete, and withdraw calls; see below.
    const early = ["Apertus", "Ling 3"];
    const found = violations(({ name }, { what, kind }) => {
      if (what === "exception" || what === "unknown tool") return true;
      return !early.includes(name) && (what === "call is also text" || (what === "not exact" && plain.includes(kind)));
    });
    expect(found).toEqual([]);
  });

  // To be fixed in ffi/llama/answer.cpp (what it reports of malformed text depends on when it reads, and it reports
  // names too early) and in src/engine/text/child/answer.ts (line breaks in strings, a trailing comma).
  test("give the same result in one piece and in many, lose nothing, and have JSON arguments", () => {
    expect(tallies.size).toBeGreaterThan(5);
    expect(violations(() => true)).toEqual([]);
  });
});

describe("svc-mini's own template", () => {
  const ping = `<tool_call>{"name": "ping", "arguments": {}}</tool_call>`;
  const request = chat([{ role: "user", content: "Hi" }], { tools: [...TOOLS, tool("ping", {}, [])] });

  beforeAll(async () => {
    await load(llama, { parallel: 1 });
  });
  afterAll(() => llama.unload());

  /** Feeds the text byte by byte, as the smallest tokens would. */
  const told = (text: string, whole = true, changes: Partial<typeof request> = {}): Told => {
    const asked = { ...request, ...changes };
    const pieces = [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
    const results = prompts(llama, [asked]).map((result) => tell(llama, asked, result, pieces, whole));
    return results.toArray()[0] ?? { reasoning: "", content: "", calls: [] };
  };
  const weather = (values: string) => `<tool_call>{"name": "get_weather", "arguments": ${values}`;

  test("treats a call of an unknown tool as text", () => {
    const text = `<tool_call>{"name": "launch", "arguments": {}}</tool_call>`;
    expect(told(text)).toEqual({ reasoning: "", content: text, calls: [] });
  });

  test("treats it as text behind words that the reasoning has too", () => {
    const text = `Let me check. <tool_call>{"name": "launch", "arguments": {}}</tool_call>`;
    const reasoning = "I say: Let me check. Then I do it.";
    const said = told(`<think>${reasoning}</think>${text}`, true, { enableThinking: true });
    expect(said).toEqual({ reasoning, content: text, calls: [] });
  });

  test("gives a call without arguments empty ones", () => {
    expect(told(ping)).toEqual({ reasoning: "", content: "", calls: [{ name: "ping", arguments: "{}" }] });
  });

  test("allows markup, quotes and emoji in arguments", () => {
    const city = `<b>"Zürich"</b> </tool_call> 👩‍👩‍👧 \\ \n`;
    const { calls, content } = told(`${weather(JSON.stringify({ city, days: 3 }))}}</tool_call>`);
    expect(content).toBe("");
    expect(calls.map((call) => JSON.parse(call.arguments))).toEqual([{ city, days: 3 }]);
  });

  test("leaves a call open at the token limit, and closes it when the model ends", () => {
    const cut = weather(`{"city": "Zür`);
    expect(told(cut, false).calls).toEqual([{ name: "get_weather", arguments: `{"city": "Zür` }]);
    expect(told(cut).calls).toEqual([{ name: "get_weather", arguments: `{"city": "Zür"}` }]);
    expect(told(`<tool_call>{"name": "get_weather"`).calls).toEqual([{ name: "get_weather", arguments: "{}" }]);
  });

  test.each(["<tool_call>get_weather(Oslo)</tool_call>", `Sure.\n<tool_call>{"nome": "x"}</tool_call> So.`])(
    "what is no call is text: %s",
    (text) => {
      expect(told(text)).toEqual({ reasoning: "", content: text, calls: [] });
    },
  );

  test("reports text and reasoning before a call, and ignores markup in reasoning", () => {
    const text = `<think>\nA <tool_call>?\n</think>\n\nSo:\n${ping}`;
    const { reasoning, content, calls } = told(text, true, { enableThinking: true });
    expect({ reasoning: reasoning.trim(), content: content.trim(), calls: calls.length }).toEqual({
      reasoning: "A <tool_call>?",
      content: "So:",
      calls: 1,
    });
  });

  test("renders 60 tools with 100 KB of schema and builds their grammar", () => {
    const many = chat([{ role: "user", content: "Hi" }], { tools: MANY_TOOLS });
    expect(JSON.stringify(MANY_TOOLS).length).toBeGreaterThan(100_000);
    const { format, sampler } = prompt(llama, many);
    if (sampler !== undefined) llama.freeSampler(sampler);
    expect(format).toMatchObject({ parsed: true, constrained: true, unconstrained: false });
  });

  test.each(Object.entries(HARD_PARAMETERS))("omits from a grammar what it cannot express: %s", (_, parameters) => {
    const { format, sampler } = prompt(llama, forcedCall(parameters));
    if (sampler !== undefined) llama.freeSampler(sampler);
    expect(format).toMatchObject({ parsed: true, constrained: true, unconstrained: false });
  });

  test.each(Object.entries(CHECKED_PARAMETERS))(
    "follows the schema in generated arguments: %s",
    (_, [parameters, follows]) => {
      const { calls, content } = generateAnswer(llama, forcedCall(parameters), 200);
      expect(content).toBe("");
      expect(calls.map((call) => call.name)).toEqual(["t"]);
      expect(calls.map((call) => follows(JSON.parse(call.arguments) as never))).toEqual([true]);
    },
  );

  // The parser is not built, so the call would become text; one for any object would suffice.
  test("gives a call even when no grammar can be made for its parameters", () => {
    const next = { anyOf: [{ $ref: "#" }, { type: "null" }] };
    const { calls } = generateAnswer(llama, forcedCall({ properties: { next }, required: ["next"] }), 200);
    expect(calls.map((call) => call.name)).toEqual(["t"]);
  });
});
