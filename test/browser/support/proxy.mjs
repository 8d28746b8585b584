// From TCP to an agent's UNIX socket, so that a browser can come as the user of the socket. Tests
// only: whoever reaches the port may do everything.
import { createServer, request } from "node:http";

export function startProxy(socketPath) {
    let broken = false;
    const open = new Set();
    const server = createServer((incoming, outgoing) => {
        if (broken) {
            incoming.socket.destroy();
            return;
        }
        const headers = { ...incoming.headers };
        const call = request({ socketPath, path: incoming.url, method: incoming.method, headers }, (answer) => {
            outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
            answer.pipe(outgoing);
        });
        call.on("error", () => outgoing.destroy());
        outgoing.on("close", () => call.destroy());
        incoming.pipe(call);
    });
    server.on("connection", (socket) => {
        open.add(socket);
        socket.on("close", () => open.delete(socket));
    });
    return new Promise((resolve) => {
        server.listen(0, "127.0.0.1", () =>
            resolve({
                url: `http://127.0.0.1:${server.address().port}`,
                // Cuts every connection, and takes no new one until it is mended.
                breakOff() {
                    broken = true;
                    for (const socket of open) socket.destroy();
                },
                mend() {
                    broken = false;
                },
                close() {
                    for (const socket of open) socket.destroy();
                    server.close();
                },
            }),
        );
    });
}
