/** Requests and streams over fetch. */

/** What is wrong with one field of a request. */
export interface Place {
  pointer: string;
  line: number;
  column: number;
  message: string;
  hint: string | null;
}

/** The agent has refused a request: its problem (RFC 9457). */
export class PealError extends Error {
  readonly detail: string;
  readonly errors: Place[];
  readonly requestId: string | undefined;

  constructor(
    readonly status: number,
    readonly problem: Record<string, unknown>,
    /** Seconds after which the same request may succeed. */
    readonly retryAfter?: number,
  ) {
    const detail = String(problem["detail"] ?? problem["title"] ?? `HTTP status ${status}`);
    super(`${detail} (${status})`);
    this.name = "PealError";
    this.detail = detail;
    this.errors = (problem["errors"] as Place[] | undefined) ?? [];
    this.requestId = problem["request_id"] as string | undefined;
  }
}

/** There was no answer, or no whole one: whether the request was done is not known. */
export class Unreachable extends PealError {
  constructor(why: string, cause: unknown) {
    super(0, { detail: why });
    this.name = "Unreachable";
    this.cause = cause;
  }
}

/** A server-sent event. */
export interface PealEvent<T = unknown> {
  event: string;
  data: T;
  id: string;
}

export interface ClientOptions {
  /** "https://HOST:7325"; of a socket "http://peal", with a fetch of unixFetch(). */
  url: string;
  token?: string;
  /** In the place of the global fetch. */
  fetch?: typeof fetch;
  headers?: Record<string, string>;
  /** Milliseconds that a request may take; streams have no end. 60,000 unless told. */
  timeoutMs?: number;
}

/** Of one request. */
export interface RequestOptions {
  /** The revision that is to be changed: 412 if there is another one. */
  ifMatch?: string | number;
  /** A POST with a key can be repeated. */
  idempotencyKey?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Call {
  method: string;
  path: string;
  query?: Record<string, unknown>;
  body?: unknown;
  type?: string;
}

/** A name as one segment of a path. */
export function segment(name: string): string {
  return encodeURIComponent(name);
}

/** The members of these names that are there. */
export function pick(from: object, names: string[]): Record<string, unknown> {
  const all = from as Record<string, unknown>;
  return Object.fromEntries(names.filter((name) => all[name] !== undefined).map((name) => [name, all[name]]));
}

function target(call: Call): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) query.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  const text = query.toString();
  return call.path + (text ? `?${text}` : "");
}

async function problemOf(response: Response): Promise<PealError> {
  const text = await response.text();
  const after = Number(response.headers.get("Retry-After") ?? "");
  let problem: Record<string, unknown> = { detail: text.trim().slice(0, 500) };
  try {
    const parsed: unknown = JSON.parse(text);
    if (parsed && typeof parsed === "object") problem = parsed as Record<string, unknown>;
  } catch {
    // not of the agent: of a proxy before it
  }
  return new PealError(response.status, problem, after > 0 ? after : undefined);
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

export class Transport {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, "") };
  }

  async #send(call: Call, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
    const { url, token, fetch: own } = this.#options;
    const all: Record<string, string> = { ...this.#options.headers, ...headers };
    if (token) all["Authorization"] = `Bearer ${token}`;
    const init: RequestInit = { method: call.method, headers: all };
    if (signal) init.signal = signal;
    if (call.body !== undefined) {
      all["Content-Type"] = call.type ?? "application/json";
      init.body = JSON.stringify(call.body);
    }
    let response: Response;
    try {
      response = await (own ?? fetch)(url + target(call), init);
    } catch (error) {
      if (signal?.aborted && (signal.reason as Error | undefined)?.name === "AbortError") throw error;
      throw new Unreachable(`${url}: ${String((error as Error).cause ?? error)}`, error);
    }
    if (response.status >= 400) throw await problemOf(response);
    return response;
  }

  /** The answer itself. */
  async callRaw(call: Call, request: RequestOptions = {}): Promise<Response> {
    const headers = { ...request.headers };
    if (request.ifMatch !== undefined) headers["If-Match"] = `"${String(request.ifMatch).replace(/"/g, "")}"`;
    if (request.idempotencyKey !== undefined) headers["Idempotency-Key"] = request.idempotencyKey;
    return this.#send(call, headers, request.signal ?? AbortSignal.timeout(this.#options.timeoutMs ?? 60000));
  }

  async call<T>(call: Call, request: RequestOptions = {}): Promise<T> {
    return (await (await this.callRaw(call, request)).json()) as T;
  }

  async callText(call: Call, request: RequestOptions = {}): Promise<string> {
    return (await this.callRaw(call, request)).text();
  }

  /**
   * Events without an end, or up to the one of that name. A connection that breaks is made again after a pause, and
   * goes on behind the last event. Ends when the signal is aborted; throws PealError if it can't go on.
   */
  async *stream(
    path: string,
    query: Record<string, unknown>,
    options: { lastId?: string; endsWith?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<PealEvent> {
    const { endsWith, signal } = options;
    let { lastId } = options;
    let pauseMs = 500;
    while (!signal?.aborted) {
      try {
        for await (const event of this.#streamOnce(path, query, lastId, signal)) {
          pauseMs = 500;
          lastId = event.id || lastId;
          yield event;
          if (event.event === endsWith) return;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (!(error instanceof PealError)) throw error;
        if (![0, 429, 502, 503, 504].includes(error.status)) throw error;
        pauseMs = Math.max(pauseMs, (error.retryAfter ?? 0) * 1000);
      }
      await wait(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, 15000);
    }
  }

  async *#streamOnce(
    path: string,
    query: Record<string, unknown>,
    lastId: string | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<PealEvent> {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (lastId) headers["Last-Event-ID"] = lastId;
    const silence = new AbortController();
    const stop = () => silence.abort();
    signal?.addEventListener("abort", stop, { once: true });
    // The agent sends a comment every 15 to 30 s: what is silent for longer is gone.
    let timer = setTimeout(stop, 60000);
    try {
      const response = await this.#send({ method: "GET", path, query }, headers, silence.signal);
      let rest = "";
      const decoder = new TextDecoder();
      const reader = response.body!.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(stop, 60000);
        rest += decoder.decode(value, { stream: true });
        const blocks = rest.split(/\r?\n\r?\n/);
        rest = blocks.pop()!;
        for (const block of blocks) {
          const event = parseEvent(block);
          if (event) yield event;
        }
      }
    } catch (error) {
      if (error instanceof PealError) throw error;
      throw new Unreachable(String(error), error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      silence.abort();
    }
  }
}

function parseEvent(block: string): PealEvent | undefined {
  let event = "message";
  let id = "";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  return data.length ? { event, id, data: JSON.parse(data.join("\n")) as unknown } : undefined;
}
