// The server's activity: levels over time, engines, running and past requests.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Health } from "../../contract/health.ts";
import { ago, bytes, contextLength, duration, promptProgress, rate, whole } from "../logic/format.ts";
import type { Levels } from "../logic/metrics.ts";
import { MOMENTS, type Watch, type WatchedRequest } from "../state/watch.ts";
import { useDroppedFiles } from "./browser.ts";
import { Chart } from "./chart.tsx";
import { usePage } from "./context.ts";
import { Problem } from "./problem.tsx";

export function WatchView() {
  const { api, watch } = usePage();
  useEffect(() => watch.start(), []);
  useDroppedFiles();
  const { health, levels, requests, trouble } = watch;
  const running = requests.value.filter(({ state }) => state !== "ended");
  const ended = requests.value.filter(({ state }) => state === "ended");
  const unknown = trouble.value || (health.value ? "" : "Asking the server …");
  const kvSize = levels.value.at(-1)?.kvSize ?? 0;
  return (
    <div class="watch" tabIndex={0} role="region" aria-label="The server">
      <div class="wide column">
        {trouble.value && (
          <div class="trouble">
            <Problem text={trouble.value} />
            {api.isKeyDeclined.value && (
              <button type="button" class="primary" onClick={() => (api.isKeyDeclined.value = false)}>
                Try again
              </button>
            )}
          </div>
        )}
        <section>
          <h2>Last two minutes</h2>
          <div class="charts">
            {CHARTS.map(({ valueOf, unit = kvSize > 0 ? `of ${contextLength(kvSize)}` : "", ...chart }) => (
              <Chart key={chart.name} {...chart} unit={unit} slots={MOMENTS} values={levels.value.map(valueOf)} />
            ))}
          </div>
        </section>
        <section>
          <h2>Engines</h2>
          {unknown ? (
            <p class="soft">{unknown}</p>
          ) : (
            <Table label="Engines" columns={OF_ENGINES} rows={health.value?.engines ?? []} keyOf={engineKey} />
          )}
        </section>
        <section>
          <h2>Running requests</h2>
          {unknown || running.length === 0 ? (
            <p class="soft">{unknown || "None at the moment."}</p>
          ) : (
            <Table
              label="Running requests"
              columns={[...OF_RUNNING, cancelling(watch, running)]}
              rows={running}
              keyOf={requestKey}
            />
          )}
        </section>
        <section>
          <h2>Last requests</h2>
          {ended.length === 0 ? (
            <p class="soft">{unknown || "None yet. Texts are never shown here."}</p>
          ) : (
            <Table label="Last requests" columns={OF_ENDED} rows={ended} keyOf={requestKey} />
          )}
        </section>
        {health.value && <p class="soft">svc {health.value.version}</p>}
      </div>
    </div>
  );
}

interface LevelChart {
  readonly name: string;
  /** Absent: the value is a share of the KV cache. */
  readonly unit?: string;
  readonly most: number;
  readonly show: (value: number) => string;
  readonly valueOf: (levels: Levels) => number;
}

const percent = (share: number): string => `${rate(share * 100)} %`;

const CHARTS: readonly LevelChart[] = [
  { name: "Output", unit: "tokens/s", most: 10, show: rate, valueOf: (levels) => levels.tokensPerSecond },
  {
    name: "Finished prompts",
    unit: "tokens/s",
    most: 10,
    show: rate,
    valueOf: (levels) => levels.promptTokensPerSecond,
  },
  { name: "Requests", unit: "running", most: 4, show: whole, valueOf: (levels) => levels.running },
  { name: "Queue", unit: "waiting", most: 4, show: whole, valueOf: (levels) => levels.waiting },
  { name: "KV cache", most: 1, show: percent, valueOf: ({ kvUsed, kvSize }) => (kvSize > 0 ? kvUsed / kvSize : 0) },
];

/** Name of the column, how a cell shows its row, and whether that is a number. */
type Column<Row> = readonly [name: string, show: (row: Row) => ComponentChildren, kind?: "number"];

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Identifies a row, so that a button never moves to another row under the pointer, and keeps the focus. */
  readonly keyOf: (row: Row) => string;
}

function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>) {
  const keys = distinct(rows.map(keyOf));
  return (
    <div class="table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(([name, , kind]) => (
              <th key={name} class={kind}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keys[index]}>
              {columns.map(([name, show, kind]) => (
                <td key={name} class={kind}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Numbers keys that are alike, as of requests without an id that began at once. */
const distinct = (keys: readonly string[]): string[] =>
  keys.map((key, at) => `${key} ${keys.slice(0, at).filter((one) => one === key).length}`);

const State = ({ state, progress }: { readonly state: string; readonly progress?: number | undefined }) => (
  <span class={`state ${state}`}>
    {state}
    {progress !== undefined && ` ${Math.round(progress * 100)} %`}
  </span>
);

type Engine = NonNullable<Health["engines"]>[number];

const engineKey = ({ kind, model }: Engine): string => `${kind} ${model}`;
const OF_ENGINES: readonly Column<Engine>[] = [
  ["Engine", ({ kind }) => kind],
  ["Model", ({ model }) => model],
  ["State", ({ state, progress }) => <State state={state} progress={progress} />],
  ["Running", ({ running }) => running, "number"],
  ["Waiting", ({ waiting }) => waiting, "number"],
  ["Memory", ({ resident_bytes: resident }) => (resident > 0 ? bytes(resident) : "–"), "number"],
  ["Restarts", ({ restarts }) => restarts, "number"],
];

type RequestColumn = Column<WatchedRequest>;

const requestKey = ({ id, created }: WatchedRequest): string => `${id} ${created}`;
const how = (one: WatchedRequest) => <State state={one.error ?? one.finish_reason ?? one.state} />;
const OF_ALL: readonly RequestColumn[] = [
  ["Engine", ({ engine }) => engine],
  ["Model", ({ model }) => model],
];
const OF_RUNNING: readonly RequestColumn[] = [
  ["State", how],
  ...OF_ALL,
  ["Prompt", promptProgress, "number"],
  ["Output", (one) => counted(one.completion_tokens), "number"],
  ["First token", (one) => timed(one.time_to_first_token), "number"],
  [
    "Tokens/s",
    (one) => paceOf(one.completion_tokens, one.total_time - (one.time_to_first_token ?? one.total_time)),
    "number",
  ],
  ["Elapsed", (one) => timed(one.total_time), "number"],
];
const OF_ENDED: readonly RequestColumn[] = [
  ["End", how],
  ...OF_ALL,
  ["Began", (one) => ago(one.created * 1000, Date.now())],
  ["Prompt", (one) => counted(one.prompt_tokens), "number"],
  ["Cached", (one) => counted(one.cached_tokens), "number"],
  ["Output", (one) => counted(one.completion_tokens), "number"],
  ["Queue", (one) => timed(one.queue_time), "number"],
  ["First token", (one) => timed(one.time_to_first_token), "number"],
  ["Tokens/s", (one) => paceOf(one.completion_tokens, one.completion_time), "number"],
  ["Total", (one) => timed(one.total_time), "number"],
];

/** Only requests that this client may cancel have an id. Of several with one id, the server cancels the newest. */
const cancelling = (watch: Watch, running: readonly WatchedRequest[]): RequestColumn => [
  "Cancel",
  (request) => {
    const { id } = request;
    if (id === undefined || running.findLast((one) => one.id === id) !== request) return null;
    return (
      <button type="button" class="danger" onClick={() => void watch.cancel(id)}>
        Cancel
      </button>
    );
  },
  "number",
];

const counted = (count: number | undefined): string => (count ? whole(count) : "–");
const timed = (seconds: number | undefined): string => (seconds === undefined ? "–" : duration(seconds * 1000));

const paceOf = (tokens: number, seconds = 0): string =>
  seconds > 0 && tokens > 1 ? rate((tokens - 1) / seconds) : "–";
