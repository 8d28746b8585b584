/** What only Node has: the UNIX socket of an agent, and its environment. */
import { Client } from "./index.js";

// Node's own modules, without their types: this package depends on nothing.
interface Incoming extends AsyncIterable<Uint8Array> {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
}
interface Outgoing {
  on(event: "error", listener: (error: Error) => void): void;
  end(body?: string): void;
}
interface NodeHttp {
  request(options: object, answered: (response: Incoming) => void): Outgoing;
}
declare const process: { env: Record<string, string | undefined>; geteuid?: () => number };

/** A fetch that asks the agent at this socket, whatever the host of the URL is. */
export function unixFetch(socketPath: string): typeof fetch {
  return async (input, init = {}) => {
    const name = "node:http"; // unknown to compilers without Node's types
    const http = (await import(name)) as NodeHttp;
    const url = new URL(String(input));
    const answer = await new Promise<Incoming>((resolve, reject) => {
      const options = {
        socketPath,
        path: url.pathname + url.search,
        method: init.method ?? "GET",
        headers: { Host: "peal", ...(init.headers as Record<string, string>) },
        signal: init.signal,
        agent: false,
      };
      const request = http.request(options, resolve);
      request.on("error", reject);
      request.end(typeof init.body === "string" ? init.body : undefined);
    });
    const headers = new Headers();
    for (const [key, value] of Object.entries(answer.headers)) headers.set(key, String(value));
    const pieces = answer[Symbol.asyncIterator]();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return?.();
      },
    });
    const isEmpty = answer.statusCode === 204 || answer.statusCode === 304;
    return new Response(isEmpty ? null : body, { status: answer.statusCode, headers });
  };
}

/** The socket of an agent of this user with the default data folder, or of $PEAL_DATA. */
export function defaultSocket(): string {
  const { PEAL_DATA, XDG_STATE_HOME, HOME } = process.env;
  const own = process.geteuid?.() === 0 ? "/var/lib/peal" : `${XDG_STATE_HOME || `${HOME}/.local/state`}/peal`;
  return `${PEAL_DATA || own}/api.sock`;
}

/** By $PEAL_URL and $PEAL_TOKEN, else the socket of this machine's agent. ($NODE_EXTRA_CA_CERTS has CAs.) */
export function clientOfEnvironment(): Client {
  const { PEAL_URL, PEAL_TOKEN } = process.env;
  if (PEAL_URL) return new Client({ url: PEAL_URL, token: PEAL_TOKEN });
  return new Client({ url: "http://peal", fetch: unixFetch(defaultSocket()) });
}
