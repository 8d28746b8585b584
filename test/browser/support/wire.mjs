// A wire to an agent's port that can be cut: bytes go through it as they are.
import { connect, createServer } from "node:net";

export async function startWire(url) {
    const { hostname, port } = new URL(url);
    const open = new Set();
    let isCut = false;
    const keep = (socket) => {
        open.add(socket);
        socket.on("error", () => socket.destroy());
        socket.on("close", () => open.delete(socket));
    };
    const server = createServer((near) => {
        keep(near);
        if (isCut) {
            near.destroy();
            return;
        }
        const far = connect(Number(port), hostname);
        keep(far);
        near.pipe(far).pipe(near);
        near.on("close", () => far.destroy());
        far.on("close", () => near.destroy());
    });
    const end = () => open.forEach((socket) => socket.destroy());
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
        url: `http://127.0.0.1:${server.address().port}`,
        // Ends every connection, and takes no new one until it is mended.
        cut() {
            isCut = true;
            end();
        },
        mend() {
            isCut = false;
        },
        close() {
            end();
            server.close();
        },
    };
}
