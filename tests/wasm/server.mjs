// A small HTTP store on loopback for the tests of `fetch`: GET with ranges, HEAD, PUT with
// conditions, DELETE, and under /fault/ answers that go wrong. For pages of any origin.
//
// Prints its address and serves until its standard input ends, or for an hour.
import { createServer } from "node:http";

const values = new Map();
let writes = 0;

const EXPOSED = "ETag, Retry-After, Content-Range, X-Seen";
const CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD, PUT, DELETE",
    "Access-Control-Allow-Headers": "Range, If-Match, If-None-Match, X-Token",
    "Access-Control-Expose-Headers": EXPOSED,
    "Access-Control-Max-Age": "600",
};

// The requests under /fault/hang that are open, and how many were given up by their sender.
const hanging = { open: 0, aborted: 0 };

function head(value) {
    return {
        "Content-Type": "application/octet-stream",
        "Last-Modified": new Date(value.modified).toUTCString(),
        ETag: value.etag,
    };
}

function read(request, response, value) {
    const size = value.bytes.length;
    const asked = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    if (!asked || request.method === "HEAD") {
        response.writeHead(200, { ...head(value), "Content-Length": size });
        response.end(request.method === "HEAD" ? undefined : value.bytes);
        return;
    }
    const start = Number(asked[1]);
    if (start >= size) {
        response.writeHead(416, { "Content-Range": `bytes */${size}` }).end();
        return;
    }
    const end = Math.min(asked[2] === "" ? size : Number(asked[2]) + 1, size);
    response.writeHead(206, {
        ...head(value),
        "Content-Length": end - start,
        "Content-Range": `bytes ${start}-${end - 1}/${size}`,
    });
    response.end(value.bytes.subarray(start, end));
}

function write(request, response, key, bytes) {
    const held = values.get(key);
    const match = request.headers["if-match"];
    if (match !== undefined && held?.etag !== match) {
        response.writeHead(412).end("another version");
        return;
    }
    if (request.headers["if-none-match"] === "*" && held !== undefined) {
        response.writeHead(412).end("there is one");
        return;
    }
    writes += 1;
    const value = { bytes, etag: `"v${writes}"`, modified: Date.now() };
    values.set(key, value);
    response.writeHead(held === undefined ? 201 : 200, { ETag: value.etag }).end("stored");
}

// What goes wrong, by the first part of the path below /fault/; the rest of it is an argument.
const faults = {
    // /fault/status/503/after/120 answers 503 with `Retry-After: 120`.
    status(request, response, [status, , after]) {
        const wait = after === undefined ? {} : { "Retry-After": decodeURIComponent(after) };
        response.writeHead(Number(status), wait).end("no");
    },
    // /fault/later/503/90000 answers 503 and asks to wait for a date so many milliseconds ahead.
    later(request, response, [status, ms]) {
        const date = new Date(Date.now() + Number(ms)).toUTCString();
        response.writeHead(Number(status), { "Retry-After": date }).end("later");
    },
    // Promises 1000 bytes, sends ten and drops the connection.
    torn(request, response) {
        response.writeHead(200, { "Content-Length": 1000 });
        response.write("0123456789", () => response.socket.destroy());
    },
    // Drops the connection before any answer.
    dropped(request, response) {
        response.socket.destroy();
    },
    // Never answers.
    hang(request, response) {
        hanging.open += 1;
        response.on("close", () => {
            hanging.open -= 1;
            hanging.aborted += 1;
        });
    },
    // Sends a chunk and then nothing.
    stall(request, response) {
        response.writeHead(200);
        response.write("0123456789");
        faults.hang(request, response);
    },
    hanging(request, response) {
        response.writeHead(200).end(JSON.stringify(hanging));
    },
    // Takes no notice of a range.
    whole(request, response) {
        response.writeHead(200, { "Content-Length": 10 }).end("0123456789");
    },
    // Sends another range than it was asked for.
    shifted(request, response) {
        response.writeHead(206, { "Content-Range": "bytes 5-9/10", "Content-Length": 5 });
        response.end("56789");
    },
    // Sends less than it was asked for; /fault/short/10 says that the whole has ten bytes.
    short(request, response, [size]) {
        const range = `bytes 2-3/${decodeURIComponent(size)}`;
        response.writeHead(206, { "Content-Range": range, "Content-Length": 2 }).end("23");
    },
    // Has a weak tag and hides its size.
    vague(request, response) {
        response.writeHead(200, { ETag: 'W/"alike"', "Transfer-Encoding": "chunked" });
        response.end(request.method === "HEAD" ? undefined : "vague");
    },
    // Answers with what it was sent: the method and the header that a test sets.
    echo(request, response) {
        response.writeHead(200).end(`${request.method} ${request.headers["x-token"]}`);
    },
};

const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
        if (request.method === "OPTIONS") {
            response.writeHead(204).end();
            return;
        }
        const fault = /^\/fault\/([a-z]+)\/?(.*)$/.exec(request.url);
        if (fault && Object.hasOwn(faults, fault[1])) {
            faults[fault[1]](request, response, fault[2].split("/"));
            return;
        }
        // The path as it came: what is percent-encoded stays so, and different keys stay different.
        const key = request.url;
        const value = values.get(key);
        if (request.method === "PUT") {
            write(request, response, key, Buffer.concat(parts));
        } else if (request.method === "DELETE") {
            response.writeHead(values.delete(key) ? 204 : 404).end();
        } else if (value === undefined) {
            response.writeHead(404).end("no such key");
        } else {
            read(request, response, value);
        }
    });
});

// Loopback alone, and whichever port is free.
server.listen(0, "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${server.address().port}`);
});
process.stdin.resume().on("end", () => process.exit(0));
setTimeout(() => process.exit(0), 60 * 60 * 1_000).unref();
