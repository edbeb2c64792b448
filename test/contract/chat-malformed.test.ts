import { describe, expect, test } from "bun:test";
import { serve } from "../http/harness.ts";
import { malformed, SECRET, sendMalformed } from "./chat-malformed-table.ts";

describe("malformed chat requests", () => {
  test("each is answered with its code, in the envelope, with the request's id, without its text", async () => {
    const server = serve();
    for (const [index, row] of malformed.entries()) {
      const id = `malformed-${index}`;
      const response = await sendMalformed(server, row, id);
      const text = await response.text();
      const { error } = JSON.parse(text);
      const seen = { name: row.name, status: response.status, code: error.code, type: error.type };
      expect(seen).toEqual({ name: row.name, status: 400, code: row.code, type: "invalid_request_error" });
      expect(Object.keys(error)).toEqual(["message", "type", "param", "code", "request_id"]);
      if (row.param !== undefined) expect([row.name, error.param]).toEqual([row.name, row.param]);
      expect(error.message).toBeString();
      expect(error.message.length).toBeGreaterThan(10);
      expect(text).not.toContain(SECRET);
      expect(error.request_id).toBe(id);
      expect(response.headers.get("x-request-id")).toBe(id);
      expect(response.headers.get("compat-request-id")).toBe(id);
    }
    expect(server.engine.requests).toBeEmpty();
    expect(JSON.stringify(server.log.lines)).not.toContain(SECRET);
  });
});
