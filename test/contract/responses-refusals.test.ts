// What /v1/responses refuses, and what it accepts because clients send it.

import { describe, expect, test } from "bun:test";
import { serve } from "../http/harness.ts";
import { scripts } from "./scripts.ts";

interface Answer {
  readonly status?: string;
  readonly text?: { readonly format: { readonly type: string }; readonly verbosity: string };
  readonly error?: { readonly code: string; readonly param: string; readonly message: string } | null;
}

const post = async (body: object) => {
  const response = await serve(scripts.text).post("/v1/responses", body);
  return { status: response.status, body: (await response.json()) as Answer };
};
const refusal = async (body: object) => {
  const { status, body: answer } = await post(body);
  return [status, answer.error?.code, answer.error?.param];
};
const user = { role: "user", content: "hi" };

test.each([
  [{ input: "hi", include: ["bogus"] }, "invalid_value", "include.0"],
  [{ input: [user, { type: "bogus" }] }, "invalid_value", "input.1.type"],
  [{ input: [{ ...user, type: "Bogus_Call" }] }, "invalid_value", "input.0.type"],
  [{ input: "hi", metadata: { ["k".repeat(65)]: "" } }, "invalid_value", "metadata"],
  [{ input: "hi", user: "u".repeat(4097) }, "invalid_value", "user"],
  [{ input: "hi", text: { verbosity: "loud" } }, "invalid_value", "text.verbosity"],
  [{ input: "hi", guided_choice: 5 }, "invalid_type", "guided_choice"],
  [
    { input: "hi", structured_outputs: { choice: ["a"] }, text: { format: { type: "json_object" } } },
    "invalid_value",
    "structured_outputs.choice",
  ],
  [{ input: "hi", guided_regex: "a+", tools: [{ type: "function", name: "f" }] }, "invalid_value", "guided_regex"],
  [{ input: "hi", tools: [{ type: "web_search" }, { type: "shell" }] }, "unsupported_parameter", "tools.0.type"],
  [
    { input: "hi", tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } },
    "unsupported_parameter",
    "tools.0.type",
  ],
  [
    { input: "hi", tools: [{ type: "function", name: "f" }, { type: "mcp" }], tool_choice: { type: "mcp" } },
    "unsupported_parameter",
    "tool_choice.type",
  ],
  [{}, "missing_required_parameter", "input"],
  [{ input: null }, "missing_required_parameter", "input"],
])("%j is refused", async (body, code, param) => {
  expect(await refusal(body)).toEqual([400, code, param]);
});

test("an input without anything to answer is refused by its length, not as missing", async () => {
  for (const input of [[], [{ type: "web_search_call" }]]) {
    const { error } = (await post({ input })).body;
    expect(error).toMatchObject({ code: "invalid_value", param: "input" });
    expect(error?.message).toEndWith(`; got an array of length ${input.length}.`);
  }
});

test("counting the tokens of a prompt validates in the same way", async () => {
  const response = await serve(scripts.text).post("/v1/responses/input_tokens", { input: "hi", guided_choice: 5 });
  expect(response.status).toBe(400);
});

describe("fields that clients send are accepted", () => {
  test("a key of 64 characters", async () => {
    expect((await post({ input: "hi", metadata: { ["k".repeat(64)]: "" } })).status).toBe(200);
  });

  test("every value of include", async () => {
    const include = ["reasoning.encrypted_content", "file_search_call.results", "web_search_call.action.sources"];
    expect((await post({ input: "hi", include })).status).toBe(200);
  });

  test("hosted tools beside functions, and alone when none may be called", async () => {
    const [search, weather] = [{ type: "web_search" }, { type: "function", name: "weather" }];
    expect((await post({ input: "hi", tools: [search, weather] })).status).toBe(200);
    expect((await post({ input: "hi", tools: [search], tool_choice: "none" })).status).toBe(200);
  });

  test("items of hosted tools, and of unknown future tools", async () => {
    const types =
      "web_search_call local_shell_call local_shell_call_output custom_tool_call custom_tool_call_output mcp_list_tools " +
      "mcp_approval_request mcp_approval_response tool_search_call tool_search_output image_generation_call " +
      "additional_tools configuration_update program program_output compaction_trigger ghost_snapshot other brush_call";
    const { status, body } = await post({ input: [...types.split(" ").map((type) => ({ type })), user] });
    expect([status, body.status]).toEqual([200, "completed"]);
  });
});

test("the requested verbosity is echoed, and the default without one", async () => {
  expect((await post({ input: "hi", text: { verbosity: "low" } })).body.text).toEqual({
    format: { type: "text" },
    verbosity: "low",
  });
  expect((await post({ input: "hi" })).body.text?.verbosity).toBe("medium");
});
