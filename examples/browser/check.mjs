// Opens a page in headless Chromium, by the protocol of chromedriver, waits until its title is a
// verdict and prints that. Fails unless the check passed.
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const [, , page, picture] = process.argv;
const options = {
    args: [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--window-size=800,1000",
    ],
};

const driver = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
const port = await new Promise((resolve, reject) => {
    driver.on("error", reject);
    driver.on("exit", () => reject(new Error("chromedriver does not start")));
    driver.stdout.on("data", (text) => {
        const found = /started successfully on port (\d+)/.exec(text);
        if (found) resolve(found[1]);
    });
});

async function ask(method, path, body) {
    const answer = await fetch(`http://127.0.0.1:${port}/session${path}`, {
        method,
        body: body && JSON.stringify(body),
    });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(value.message);
    return value;
}

let session;
let title = "no verdict";
try {
    const capabilities = { alwaysMatch: { browserName: "chrome", "goog:chromeOptions": options } };
    session = (await ask("POST", "", { capabilities })).sessionId;
    await ask("POST", `/${session}/url`, { url: page });
    for (let tries = 0; tries < 600 && !title.startsWith("Check "); tries += 1) {
        await sleep(100);
        title = await ask("GET", `/${session}/title`);
    }
    if (picture) {
        await writeFile(picture, await ask("GET", `/${session}/screenshot`), "base64");
    }
} finally {
    if (session) await ask("DELETE", `/${session}`);
    driver.removeAllListeners("exit");
    driver.kill();
}
console.log(title);
process.exitCode = title === "Check passed." ? 0 : 1;
