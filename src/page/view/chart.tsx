// A small line chart of a level over the last minutes.

import { lineOf } from "../logic/metrics.ts";

interface ChartProps {
  readonly name: string;
  readonly values: readonly number[];
  readonly slots: number;
  /** Minimum value that the full height stands for. */
  readonly most: number;
  readonly show: (value: number) => string;
  readonly unit: string;
}

const [WIDTH, HEIGHT] = [240, 56];

export function Chart({ name, values, slots, most, show, unit }: ChartProps) {
  const { line, area } = lineOf(values, { slots, width: WIDTH, height: HEIGHT, most });
  const now = values.at(-1);
  const highest = values.length > 0 ? Math.max(...values) : 0;
  return (
    <figure class="chart">
      <figcaption>{name}</figcaption>
      <p class="value">
        {now === undefined ? "–" : show(now)} <small>{unit}</small>
      </p>
      <svg
        viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}: at most ${show(highest)} ${unit}`}
      >
        <path class="area" d={area} />
        <path class="line" d={line} />
      </svg>
      <small>peak {show(highest)}</small>
    </figure>
  );
}
