// Templates that refuse conversations that other templates take, as those of Mistral and Gemma do.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "../support/folders.ts";
import { withServer } from "../support/server.ts";

const folder = sharedFolder();

const TEMPLATE = `{%- set turns = messages if messages[0].role != 'system' else messages[1:] -%}
{%- for message in turns -%}
{%- if (message.role == 'user') != (loop.index0 % 2 == 0) -%}
{{- raise_exception('Roles must alternate user/assistant/user/assistant/...') -}}
{%- endif -%}
{{- '[' + message.role + '] ' + message.content + '\\n' -}}
{%- endfor -%}
{{- '[assistant]' -}}`;

const turn = (role: string, content: string) => ({ role, content });
const said = [turn("user", "One."), turn("user", "Two."), turn("assistant", "Three."), turn("system", "Four.")];

test("turns that a template refuses are joined", async () => {
  const template = join(folder, "strict.jinja");
  writeFileSync(template, TEMPLATE);
  await withServer(["--chat-template", template, "--ctx", "1024", "--parallel", "2"], async (server) => {
    const post = async (path: string, body: object) => {
      const response = await server.post(path, body);
      return { status: response.status, answer: await response.json() };
    };
    const prompt =
      "[user] One.\n\nTwo.\n[assistant] Three.\n[user] <system-reminder>\nFour.\n</system-reminder>\n[assistant]";
    const shown = await post("/apply-template", { messages: said });
    expect(shown).toEqual({ status: 200, answer: { prompt } });
    const answered = await post("/v1/chat/completions", { messages: said, max_tokens: 1 });
    expect(answered).toMatchObject({ status: 200, answer: { choices: [{ finish_reason: "length" }] } });
    expect((await post("/api/chat", { messages: said, stream: false, options: { num_predict: 1 } })).status).toBe(200);
    const refused = await post("/v1/chat/completions", { messages: [turn("assistant", "First.")], max_tokens: 1 });
    expect(refused).toMatchObject({ status: 400, answer: { error: { param: "messages" } } });
  });
}, 60_000);
