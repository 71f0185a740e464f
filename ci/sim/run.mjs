// Runs the simulation compiled to WASM and prints the hash of each seed's trace, as `sim hashes`
// does natively: node run.mjs MODULE COUNT
import { readFile } from "node:fs/promises";

const [file, count] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(await readFile(file), {});
for (let seed = 0n; seed < BigInt(count); seed += 1n) {
    const hash = BigInt.asUintN(64, instance.exports.trace_hash(seed));
    console.log(`${seed} ${hash.toString(16).padStart(16, "0")}`);
}
