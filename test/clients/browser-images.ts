// A web page in Chromium that requests an image and shows its progress, with fetch and server-sent events, from a
// running svc (SVC_URL). `SCREENSHOT` names a file for a picture of the page. Without a browser it prints why it
// checks nothing.

import { check, equal, ok, same, summary } from "./checks.ts";
import { chromium, findingsOf, withoutChromium } from "./pages.ts";

/** An image as shown by the page. */
interface Shown {
  readonly event: string;
  readonly index: number | undefined;
  readonly width: number;
  readonly height: number;
  /** Number of the stream piece with which the image arrived. */
  readonly piece: number;
  /** Mean red, green and blue of the image's centre. */
  readonly middle: readonly number[];
}

interface Findings {
  readonly status: number;
  readonly type: string;
  readonly origin: string | null;
  readonly shown: readonly Shown[];
}

const PARTIALS = 3;
const STEPS = 12;

/** Runs in the page. */
async function inPage(url: string, partials: number, steps: number): Promise<Findings> {
  const started = performance.now();
  const asked = {
    prompt: "a red circle on a white background",
    size: "256x256",
    seed: 7,
    steps,
    stream: true,
    partial_images: partials,
  };
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${url}/v1/images/generations`, {
    method: "POST",
    headers,
    body: JSON.stringify(asked),
  });
  const shown: Shown[] = [];
  const show = async (text: string, piece: number) => {
    const event = JSON.parse(text) as { type: string; b64_json: string; partial_image_index?: number };
    const image = new Image();
    image.src = `data:image/png;base64,${event.b64_json}`;
    await image.decode();
    const figure = document.createElement("figure");
    figure.style.cssText = "display: inline-block; margin: 8px";
    const at = Math.round(performance.now() - started);
    figure.append(image, document.createElement("br"), `${event.type} after ${at} ms`);
    document.body.append(figure);
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas?.drawImage(image, image.width / 2 - 4, image.height / 2 - 4, 8, 8, 0, 0, 1, 1);
    const middle = [...(canvas?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3);
    const { width, height } = image;
    shown.push({ event: event.type, index: event.partial_image_index, width, height, piece, middle });
  };
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let piece = 0; reader; piece++) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: {")) await show(line.slice("data: ".length), piece);
  }
  const type = response.headers.get("content-type") ?? "";
  // What a page can see of a response from another origin.
  return { status: response.status, type, origin: response.type === "cors" ? location.origin : null, shown };
}

const browser = chromium();
if (browser) {
  console.log("Chromium, images");
  const script = `(${inPage})(${[process.env["SVC_URL"], PARTIALS, STEPS].map((one) => JSON.stringify(one))})`;
  const { SCREENSHOT: screenshot } = process.env;
  const page = { script, flags: ["--window-size=1200,500"], ...(screenshot !== undefined && { screenshot }) };
  const found = await findingsOf<Findings>(browser, page).catch((error: Error) => error);
  const get = () => {
    if (found instanceof Error) throw found;
    return found;
  };
  await check("a page of another origin reads the stream of an image", async () => {
    const { status, type, origin } = get();
    equal(status, 200);
    ok(type.startsWith("text/event-stream"), type);
    ok(origin?.startsWith("http://localhost:"), `${origin}`);
  });
  await check("it shows partial images before the image, in their order", async () => {
    const { shown } = get();
    const partial = (index: number) => ["image_generation.partial_image", index];
    const order = shown.map(({ event, index }) => (index === undefined ? [event] : [event, index]));
    same(order, [partial(0), partial(1), partial(2), ["image_generation.completed"]]);
    ok(
      shown.every(({ width, height }) => width === 256 && height === 256),
      "sizes",
    );
  });
  await check("they arrive while it is drawn, and not together at its end", async () => {
    const pieces = get().shown.map(({ piece }) => piece);
    equal(new Set(pieces).size, pieces.length);
  });
  await check("the image is what was described", async () => {
    const [red = 0, green = 0, blue = 0] = get().shown.at(-1)?.middle ?? [];
    ok(red > 150 && green < 110 && blue < 110, `${red}, ${green}, ${blue} in the middle`);
  });
} else await withoutChromium("a page that shows an image while it is drawn");
summary();
