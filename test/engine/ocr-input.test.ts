// The real program with --ocr-input: the text of a drawn page in the prompts of models without vision.

import { expect, setDefaultTimeout, test } from "bun:test";
import { drawn, pngOf } from "../support/pages.ts";
import { withServer } from "../support/server.ts";
import { english, NO_ENGLISH } from "../support/tessdata.ts";

setDefaultTimeout(60_000);

const FLAGS = ["--ctx", "1024", "--parallel", "2", "--threads", "1", "--ocr-input"];

test.skipIf(!english)(`an image is read for the loaded model and for svc-system (${NO_ENGLISH})`, () =>
  withServer(FLAGS, async ({ url }) => {
    const page = await drawn({ lines: ["The meeting is on Tuesday", "at half past nine"], paper: [300, 150] });
    const picture = `data:image/png;base64,${(await pngOf(page)).toBase64()}`;
    const text = "The meeting is on Tuesday\nat half past nine";
    for (const model of ["", "svc-system"]) {
      const content = [{ type: "image_url", image_url: { url: picture } }];
      const body = { model, max_tokens: 4, messages: [{ role: "user", content }] };
      const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
      const { svc_recognitions, usage } = (await response.json()) as {
        svc_recognitions: object[];
        usage: { prompt_tokens: number };
      };
      const param = "messages.0.content.0.image_url.url";
      expect([response.status, svc_recognitions]).toEqual([200, [{ param, model: "tesseract", text, page_count: 1 }]]);
      expect(usage.prompt_tokens).toBeGreaterThan(10);
    }
  }),
);
