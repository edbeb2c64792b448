// Other machines whose devices compute a part of the model.

/** Where a worker listens. */
export interface WorkerAddress {
  readonly host: string;
  readonly port: number;
}

/** The port that workers have, where none is named. */
export const WORKER_PORT = 50_052;

/** llama.cpp divides a model over so many devices. */
export const MOST_WORKERS = 16;

/** As options, logs and messages have it. */
export const workerName = ({ host, port }: WorkerAddress): string => `${host}:${port}`;
