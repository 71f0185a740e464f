// Serves the page, and keeps its notes in memory. Loopback alone.
//
// Takes the port and prints its address. Without a port, as for a check, it takes any free one and
// ends with its standard input or after ten minutes.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));
const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const notes = new Map();
let on = true;

async function page(path, response) {
    const file = normalize(join(root, path === "/" ? "index.html" : path));
    if (!file.startsWith(root.endsWith(sep) ? root : root + sep)) throw new Error("outside");
    const bytes = await readFile(file);
    response.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream" });
    response.end(bytes);
}

function note(request, response, key, bytes) {
    if (!on) {
        response.writeHead(503, { "Retry-After": "1" }).end();
    } else if (request.method === "PUT") {
        notes.set(key, bytes);
        response.writeHead(204).end();
    } else if (request.method === "DELETE") {
        response.writeHead(notes.delete(key) ? 204 : 404).end();
    } else if (!notes.has(key)) {
        response.writeHead(404).end();
    } else {
        response.writeHead(200, { "Content-Length": notes.get(key).length });
        response.end(request.method === "HEAD" ? undefined : notes.get(key));
    }
}

const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
        const path = new URL(request.url, "http://localhost").pathname;
        if (path.startsWith("/data/")) {
            note(request, response, path, Buffer.concat(parts));
        } else if (request.method === "POST" && /^\/server\/(on|off)$/.test(path)) {
            on = path.endsWith("on");
            response.writeHead(204).end();
        } else {
            page(path, response).catch(() => response.writeHead(404).end());
        }
    });
});

server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${server.address().port}`);
});
if (process.argv[2] === undefined) {
    process.stdin.resume().on("end", () => process.exit(0));
    setTimeout(() => process.exit(0), 10 * 60 * 1_000).unref();
}
