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
  [
    { input: [{ type: "function_call", call_id: "c", name: "f", arguments: { a: 1 } }] },
    "invalid_type",
    "input.0.arguments",
  ],
  [{ input: [{ type: "function_call_output", output: "a" }] }, "missing_required_parameter", "input.0.call_id"],
  [{ input: [{ type: "agent_message", author: "a" }] }, "missing_required_parameter", "input.0.content"],
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

test.each([
  { tools: [{ type: "web_search" }] },
  { tools: [{ type: "function", name: "f" }, { type: "mcp" }], tool_choice: { type: "mcp" } },
])("the prompt is counted and summarised with tools that an answer is refused for: %j", async (fields) => {
  for (const path of ["/v1/responses/input_tokens", "/v1/responses/compact"]) {
    expect((await serve(scripts.text).post(path, { input: "hi", ...fields })).status).toBe(200);
  }
});

describe("fields that clients send are accepted", () => {
  test("a key of 64 characters", async () => {
    expect((await post({ input: "hi", metadata: { ["k".repeat(64)]: "" } })).status).toBe(200);
  });

  test("every value of include", async () => {
    const include = ["reasoning.encrypted_content", "file_search_call.results", "web_search_call.action.sources"];
    expect((await post({ input: "hi", include })).status).toBe(200);
  });

  test("vendor tools beside functions, and alone when none may be called", async () => {
    const [search, weather] = [{ type: "web_search" }, { type: "function", name: "weather" }];
    expect((await post({ input: "hi", tools: [search, weather] })).status).toBe(200);
    expect((await post({ input: "hi", tools: [search], tool_choice: "none" })).status).toBe(200);
  });

  test("items of vendor tools, and of unknown future tools", async () => {
    const search = { call_id: "call_1", execution: "client", status: "completed" };
    const exec = { type: "exec", command: ["ls"], env: {}, timeout_ms: null };
    const items = [
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "sky" } },
      { type: "local_shell_call", call_id: "call_2", status: "completed", action: exec },
      { type: "local_shell_call_output", id: "call_2", output: "a.txt" },
      { type: "tool_search_call", ...search, arguments: { query: "fruit", limit: 8 } },
      { type: "tool_search_output", ...search, tools: [] },
      { type: "mcp_call", id: "mcp_1", server_label: "a", name: "b", arguments: "{}", output: "c", error: null },
      { type: "mcp_list_tools", id: "mcpl_1", server_label: "a", tools: [{ name: "b", input_schema: {} }] },
      { type: "mcp_approval_request", id: "mcpr_1", server_label: "a", name: "b", arguments: "{}" },
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
      { type: "image_generation_call", id: "ig_1", status: "completed", result: "AAAA" },
      {
        type: "code_interpreter_call",
        id: "ci_1",
        code: "1",
        container_id: "a",
        outputs: [{ type: "logs", logs: "1" }],
      },
      {
        type: "shell_call_output",
        call_id: "call_3",
        output: [{ stdout: "", stderr: "", outcome: { type: "timeout" } }],
      },
      { type: "apply_patch_call", call_id: "call_4", operation: { type: "delete_file", path: "a" } },
      { type: "additional_tools", role: "developer", tools: [] },
      { type: "program", id: "p_1", call_id: "call_5", code: "1", fingerprint: "x" },
      ...["configuration_update", "program_output", "compaction_trigger", "ghost_snapshot", "other", "brush_call"].map(
        (type) => ({ type, tools: ["other"] }),
      ),
    ];
    const { status, body } = await post({ input: [...items, user] });
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
