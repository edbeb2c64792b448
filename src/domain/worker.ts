// Workers: other machines whose devices compute a part of the model.

/** The address on which a worker listens. */
export interface WorkerAddress {
  readonly host: string;
  readonly port: number;
}

/** The default port of workers. */
export const WORKER_PORT = 50_052;

/** The maximum number of devices over which llama.cpp divides a model. */
export const MOST_WORKERS = 16;

/** Returns the address as written in options, logs and messages. */
export const workerName = ({ host, port }: WorkerAddress): string => `${host}:${port}`;
