// An MCP server with one tool, on standard input and output.

import { createInterface } from "node:readline";

const inputSchema = { type: "object", properties: { who: { type: "string" } }, required: ["who"] };

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "shop", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [{ name: "fruit", description: "Buys a fruit for someone.", inputSchema }] }),
  "tools/call": ({ arguments: { who } }) => ({ content: [{ type: "text", text: `a plum for ${who}` }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
