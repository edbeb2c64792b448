// What the server does: levels over time, engines, requests that run and that have run.

import { useEffect } from "preact/hooks";
import type { Health } from "../../contract/health.ts";
import { ago, bytes, contextLength, duration, promptProgress, rate, whole } from "../logic/format.ts";
import { MOMENTS, type WatchedRequest } from "../state/watch.ts";
import { Chart } from "./chart.tsx";
import { usePage } from "./context.ts";

export function WatchView() {
  const { watch } = usePage();
  useEffect(() => watch.start(), []);
  const { health, levels, requests, trouble } = watch;
  const running = requests.value.filter(({ state }) => state !== "ended");
  const ended = requests.value.filter(({ state }) => state === "ended");
  const values = (of: (level: (typeof levels.value)[number]) => number) => levels.value.map(of);
  const chart = { slots: MOMENTS };
  const unknown = trouble.value || (health.value ? "" : "Asking the server …");
  const kvSize = levels.value.at(-1)?.kvSize ?? 0;
  return (
    <div class="watch" tabIndex={0} role="region" aria-label="The server">
      <div class="wide column">
        {trouble.value && (
          <p class="error" role="alert">
            {trouble.value}
          </p>
        )}
        <section class="charts" aria-label="Levels">
          <Chart
            {...chart}
            name="Output"
            unit="tokens/s"
            most={10}
            show={rate}
            values={values((level) => level.tokensPerSecond)}
          />
          <Chart
            {...chart}
            name="Prompts"
            unit="tokens/s"
            most={10}
            show={rate}
            values={values((level) => level.promptTokensPerSecond)}
          />
          <Chart
            {...chart}
            name="Requests"
            unit="running"
            most={4}
            show={whole}
            values={values((level) => level.running)}
          />
          <Chart
            {...chart}
            name="Queue"
            unit="waiting"
            most={4}
            show={whole}
            values={values((level) => level.waiting)}
          />
          <Chart
            {...chart}
            name="KV cache"
            unit={`of ${contextLength(kvSize)}`}
            most={1}
            show={percent}
            values={values((level) => (level.kvSize > 0 ? level.kvUsed / level.kvSize : 0))}
          />
        </section>
        <section>
          <h2>Engines</h2>
          {unknown ? <p class="soft">{unknown}</p> : <Engines engines={health.value?.engines ?? []} />}
        </section>
        <section>
          <h2>Running requests</h2>
          {unknown || running.length === 0 ? (
            <p class="soft">{unknown || "None at the moment."}</p>
          ) : (
            <Requests
              label="Running requests"
              columns={OF_RUNNING}
              requests={running}
              onCancel={(id) => void watch.cancel(id)}
            />
          )}
        </section>
        <section>
          <h2>Last requests</h2>
          {ended.length === 0 ? (
            <p class="soft">{unknown || "None yet. Texts are never shown here."}</p>
          ) : (
            <Requests label="Last requests" columns={OF_ENDED} requests={ended} />
          )}
        </section>
        {health.value && <p class="soft">svc {health.value.version}</p>}
      </div>
    </div>
  );
}

const Engines = ({ engines }: { readonly engines: NonNullable<Health["engines"]> }) => (
  <div class="table" tabIndex={0} role="region" aria-label="Engines">
    <table>
      <thead>
        <tr>
          <th>Engine</th>
          <th>Model</th>
          <th>State</th>
          <th class="number">Running</th>
          <th class="number">Waiting</th>
          <th class="number">Memory</th>
          <th class="number">Restarts</th>
        </tr>
      </thead>
      <tbody>
        {engines.map((engine) => (
          <tr key={`${engine.kind} ${engine.model}`}>
            <td>{engine.kind}</td>
            <td>{engine.model}</td>
            <td>
              <span class={`state ${engine.state}`}>
                {engine.state}
                {engine.progress !== undefined && ` ${Math.round(engine.progress * 100)} %`}
              </span>
            </td>
            <td class="number">{engine.running}</td>
            <td class="number">{engine.waiting}</td>
            <td class="number">{engine.resident_bytes > 0 ? bytes(engine.resident_bytes) : "–"}</td>
            <td class="number">{engine.restarts}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

interface RequestsProps {
  readonly label: string;
  readonly requests: readonly WatchedRequest[];
  readonly columns: readonly (readonly [string, (request: WatchedRequest) => string])[];
  readonly onCancel?: (id: string) => void;
}

/** Columns of numbers, beside those of all. */
const OF_RUNNING: RequestsProps["columns"] = [
  ["Prompt", promptProgress],
  ["Output", (one) => counted(one.completion_tokens)],
  ["First token", (one) => timed(one.time_to_first_token)],
  ["Tokens/s", (one) => paceOf(one.completion_tokens, one.total_time - (one.time_to_first_token ?? one.total_time))],
  ["Elapsed", (one) => timed(one.total_time)],
];
const OF_ENDED: RequestsProps["columns"] = [
  ["Prompt", (one) => counted(one.prompt_tokens)],
  ["Cached", (one) => counted(one.cached_tokens)],
  ["Output", (one) => counted(one.completion_tokens)],
  ["Queue", (one) => timed(one.queue_time)],
  ["First token", (one) => timed(one.time_to_first_token)],
  ["Tokens/s", (one) => paceOf(one.completion_tokens, one.completion_time)],
  ["Total", (one) => timed(one.total_time)],
];

const Requests = ({ label, requests, columns, onCancel }: RequestsProps) => (
  <div class="table" tabIndex={0} role="region" aria-label={label}>
    <table>
      <thead>
        <tr>
          <th>{onCancel ? "State" : "End"}</th>
          <th>Engine</th>
          <th>Model</th>
          {!onCancel && <th>Began</th>}
          {columns.map(([name]) => (
            <th key={name} class="number">
              {name}
            </th>
          ))}
          {onCancel && <th class="number">Cancel</th>}
        </tr>
      </thead>
      <tbody>
        {requests.map((one, index) => (
          <tr key={`${one.id} ${one.created} ${index}`}>
            <td>
              <span class={`state ${one.error ?? one.finish_reason ?? one.state}`}>
                {one.error ?? one.finish_reason ?? one.state}
              </span>
            </td>
            <td>{one.engine}</td>
            <td>{one.model}</td>
            {!onCancel && <td>{ago(one.created * 1000, Date.now())}</td>}
            {columns.map(([name, show]) => (
              <td key={name} class="number">
                {show(one)}
              </td>
            ))}
            {onCancel && (
              <td class="number">
                {one.id !== undefined && (
                  <button type="button" class="danger" onClick={() => onCancel(one.id ?? "")}>
                    Cancel
                  </button>
                )}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const percent = (share: number): string => `${rate(share * 100)} %`;
const counted = (count: number | undefined): string => (count ? whole(count) : "–");
const timed = (seconds: number | undefined): string => (seconds === undefined ? "–" : duration(seconds * 1000));

const paceOf = (tokens: number, seconds = 0): string =>
  seconds > 0 && tokens > 1 ? rate((tokens - 1) / seconds) : "–";
