// Finds the coloured shapes in a picture with a plain background, by the criteria of svc-draw's recipe.

export interface Shape {
  readonly colour: string;
  readonly shape: string;
  /** Centre of the shape. */
  readonly x: number;
  readonly y: number;
}

export const SIDE = 128;
const COLOURS: Readonly<Record<string, readonly [number, number, number]>> = {
  red: [225, 35, 35],
  green: [35, 165, 60],
  blue: [40, 75, 225],
  yellow: [250, 215, 40],
  purple: [135, 45, 170],
  orange: [250, 135, 25],
  white: [250, 250, 250],
  black: [15, 15, 15],
};
const NAMES = Object.keys(COLOURS);
const EDGE = 4;
/** Colour distance from the background above which a pixel belongs to a shape; then the minimum pixels of a shape. */
const DISTANCE = 70;
const LEAST_PIXELS = 90;
const GRID = 40;

type Mask = readonly boolean[];

const distance = (rgb: Uint8Array, at: number, name: string): number =>
  Math.hypot(...(COLOURS[name] ?? []).map((value, channel) => value - (rgb[at * 3 + channel] ?? 0)));

const nearest = (rgb: Uint8Array, at: number): string =>
  NAMES.reduce((best, name) => (distance(rgb, at, name) < distance(rgb, at, best) ? name : best));

function commonest(names: readonly string[]): string {
  const counts = Object.groupBy(names, (name) => name);
  return NAMES.reduce((best, name) => ((counts[name]?.length ?? 0) > (counts[best]?.length ?? 0) ? name : best));
}

/** Returns the background colour and the shapes, largest first. */
export function shapesIn(rgb: Uint8Array): { readonly background: string; readonly shapes: Shape[] } {
  const all = Array.from({ length: SIDE * SIDE }, (_, at) => at);
  const isEdge = (value: number) => value < EDGE || value >= SIDE - EDGE;
  const edge = all.filter((at) => isEdge(at % SIDE) || isEdge(Math.floor(at / SIDE)));
  const background = commonest(edge.map((at) => nearest(rgb, at)));
  const blobs = blobsOf(all.map((at) => distance(rgb, at, background) > DISTANCE));
  const shapes = blobs.map((pixels) => {
    const mean = (value: (at: number) => number) =>
      Math.round(pixels.reduce((sum, at) => sum + value(at), 0) / pixels.length);
    const colour = commonest(pixels.map((at) => nearest(rgb, at)).filter((name) => name !== background));
    return { colour, shape: shapeOf(pixels), x: mean((at) => at % SIDE), y: mean((at) => Math.floor(at / SIDE)) };
  });
  return { background, shapes };
}

/** Returns groups of connected pixels, largest first. */
function blobsOf(mask: Mask): number[][] {
  const seen = new Set<number>();
  const blobs: number[][] = [];
  for (const [start, isSet] of mask.entries()) {
    if (!isSet || seen.has(start)) continue;
    const blob = [start];
    seen.add(start);
    for (const at of blob) {
      const sides = [
        at - SIDE,
        at + SIDE,
        ...(at % SIDE > 0 ? [at - 1] : []),
        ...(at % SIDE < SIDE - 1 ? [at + 1] : []),
      ];
      for (const next of sides.filter((one) => mask[one] && !seen.has(one))) {
        seen.add(next);
        blob.push(next);
      }
    }
    blobs.push(blob);
  }
  return blobs.filter(({ length }) => length >= LEAST_PIXELS).toSorted((a, b) => b.length - a.length);
}

/** Scales pixels to a grid of fixed size. */
function normal(pixels: readonly number[]): Mask {
  const [xs, ys] = [pixels.map((at) => at % SIDE), pixels.map((at) => Math.floor(at / SIDE))];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left + 1, Math.max(...ys) - top + 1];
  const set = new Set(pixels);
  return Array.from({ length: GRID * GRID }, (_, cell) => {
    const x = left + Math.floor((((cell % GRID) + 0.5) * width) / GRID);
    const y = top + Math.floor(((Math.floor(cell / GRID) + 0.5) * height) / GRID);
    return set.has(y * SIDE + x);
  });
}

/** Signed distances from shapes of radius 1, with x to the right and y upwards. */
const SHAPES: Readonly<Record<string, (x: number, y: number) => number>> = {
  circle: (x, y) => Math.hypot(x, y) - 1,
  square: (x, y) => Math.max(Math.abs(x), Math.abs(y)) - 0.88,
  triangle: (x, y) => Math.max(-y - 0.8, (1.75 * Math.abs(x) + y - 0.95) / Math.hypot(1.75, 1)),
  star: (x, y) => (Math.hypot(x, y) <= starRadius(x, y) ? -1 : 1),
  diamond: (x, y) => (Math.abs(x) + Math.abs(y) * 0.8 - 1) / 1.28,
  heart(x, y) {
    const [across, up] = [Math.abs(x) / 1.75, y / 1.75 + 0.53];
    if (across + up > 1) return Math.hypot(across - 0.25, up - 0.75) - 0.35355;
    const q = Math.max(0, 0.5 * (across + up));
    return Math.min(Math.hypot(across, up - 1), Math.hypot(across - q, up - q)) * Math.sign(across - up);
  },
};

/** Returns the radius of a five-pointed star in a direction: 1.1 at its points, 0.45 of that at the corners between. */
function starRadius(x: number, y: number): number {
  const part = Math.PI / 5;
  const angle = Math.atan2(x, y);
  const inPart = Math.abs((((((angle % (2 * part)) + 2 * part) % (2 * part)) + part) % (2 * part)) - part);
  const [outer, inner] = [1.1, 1.1 * 0.45];
  return (outer * inner * Math.sin(part)) / (outer * Math.sin(inPart) + inner * Math.sin(part - inPart));
}

const RADIUS = 34;
const TEMPLATES = Object.entries(SHAPES).map(([name, sdf]) => {
  const pixels = Array.from({ length: SIDE * SIDE }, (_, at) => at).filter(
    (at) => sdf(((at % SIDE) + 0.5 - 64) / RADIUS, (64 - Math.floor(at / SIDE) - 0.5) / RADIUS) < 0,
  );
  return { name, mask: normal(pixels) };
});

/** Returns the shape with the largest overlap with these pixels. */
function shapeOf(pixels: readonly number[]): string {
  const mask = normal(pixels);
  const likeness = (template: Mask) => {
    const both = template.filter((isSet, at) => isSet && mask[at]).length;
    return both / template.filter((isSet, at) => isSet || mask[at]).length;
  };
  return TEMPLATES.toSorted((a, b) => likeness(b.mask) - likeness(a.mask))[0]?.name ?? "";
}
