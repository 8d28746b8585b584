// What a page costs: bytes over the wire, calls of the API, elements, memory. Bounds on these hold
// on any machine, however busy it is; times do not.
export async function gauge(page) {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Network.enable");
    await cdp.send("Performance.enable");
    let bytes = 0;
    let calls = [];
    cdp.on("Network.dataReceived", (event) => (bytes += event.encodedDataLength || event.dataLength));
    page.on("request", (request) => {
        if (request.url().includes("/api/v1/")) calls.push(request.url().split("/api/v1")[1]);
    });
    const metrics = async () => Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
    return {
        bytes: () => bytes,
        calls: (start = "/") => calls.filter((call) => call.startsWith(start)),
        reset() {
            bytes = 0;
            calls = [];
        },
        elements: () => page.evaluate(() => document.querySelectorAll("*").length),
        async heap() {
            await cdp.send("HeapProfiler.collectGarbage");
            return (await metrics()).JSHeapUsedSize;
        },
        // Seconds that the page's thread was busy so far.
        busy: async () => (await metrics()).TaskDuration,
    };
}
