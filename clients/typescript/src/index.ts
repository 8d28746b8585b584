/** The HTTP API of peal: see README.md, and docs/API.md for what each call does. */
import { Api } from "./api.js";
import type { Run } from "./models.js";
import { type PealEvent, type RequestOptions, segment } from "./transport.js";

export type * from "./models.js";
export { PealError, Unreachable } from "./transport.js";
export type { ClientOptions, PealEvent, Place, RequestOptions } from "./transport.js";

export interface StreamOptions {
  signal?: AbortSignal;
}

/** All calls of the API, and what goes on: events, outputs. */
export class Client extends Api {
  /**
   * What happens in the cluster, as it happens: "jobs", "runs", "nodes", "calendars". The first event is "hello";
   * of a connection that was made again perhaps "reset": some were missed, and what is shown should be read anew.
   */
  events(options: StreamOptions & { topics?: string[]; lastEventId?: string } = {}): AsyncGenerator<PealEvent> {
    const { topics, lastEventId, signal } = options;
    return this.stream("/api/v1/events", { topics }, { lastId: lastEventId, signal });
  }

  /**
   * The output of a run, from the start on and as it comes: events "chunk", and "end" at last, with the run; "absent"
   * while its node does not answer.
   */
  followLog(runId: string, options: StreamOptions & { offset?: number } = {}): AsyncGenerator<PealEvent> {
    const path = `/api/v1/runs/${segment(runId)}/log/stream`;
    return this.stream(path, { offset: options.offset }, { endsWith: "end", signal: options.signal });
  }

  /** The bytes of the output of a run. */
  async rawLog(runId: string, request: RequestOptions = {}): Promise<Uint8Array> {
    const path = `/api/v1/runs/${segment(runId)}/log`;
    const response = await this.callRaw({ method: "GET", path, query: { raw: true } }, request);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** Runs a job, and waits for the end of the run. */
  async runAndWait(name: string, options: Parameters<Api["runJob"]>[1] = {}, request: RequestOptions = {}): Promise<Run> {
    const { run_id } = await this.runJob(name, options, request);
    for await (const event of this.followLog(run_id, { signal: request.signal })) {
      if (event.event === "end") break;
    }
    return this.getRun(run_id);
  }
}
