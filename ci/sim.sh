#!/usr/bin/env bash
# The simulation at length, optimised: `ci/sim.sh [COUNT [FROM]]`. Without arguments it also runs the
# first seeds on wasm32 in Node and compares the hashes of their traces with those of this machine,
# with and without `std`, and with tests/simulation/hashes.txt. That file changes whenever the
# behaviour does; `ci/sim.sh hashes` writes it anew, and the difference belongs in the same commit.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

manifest=ci/sim/Cargo.toml
known=tests/simulation/hashes.txt
hashed=50
target=${CARGO_TARGET_DIR:-$PWD/target}/sim

sim() {
    CARGO_TARGET_DIR=$target cargo run --locked --quiet --release --manifest-path "$manifest" \
        --bin sim "$@"
}

case ${1:-all} in
hashes)
    sim -- hashes "$hashed" >"$known"
    printf '%s: written\n' "$known"
    exit
    ;;
[0-9]*)
    sim -- "$@"
    exit
    ;;
esac

run sim -- 4000 500

printf 'hashes of %s seeds: this machine, without std\n' "$hashed"
sim -- hashes "$hashed" | diff "$known" - ||
    fail "traces are not those of $known; if that is meant, run: ci/sim.sh hashes"
printf 'hashes of %s seeds: this machine, with std\n' "$hashed"
sim --features std -- hashes "$hashed" | diff "$known" - || fail "with std the same seed runs otherwise"

if ! command -v node >/dev/null && [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    run apt-get install -y --no-install-recommends nodejs
fi
if ! command -v node >/dev/null; then
    [[ -z ${CI:-} ]] || fail "Node is missing: traces on wasm32 cannot be compared"
    loud "Node is not installed: traces on wasm32 were NOT compared"
    exit
fi
wasm=wasm32-unknown-unknown
rustup target list --installed | grep -qx "$wasm" || run rustup target add "$wasm"
CARGO_TARGET_DIR=$target run cargo build --locked --quiet --release --manifest-path "$manifest" \
    --lib --target "$wasm"
printf 'hashes of %s seeds: wasm32 in Node\n' "$hashed"
node ci/sim/run.mjs "$target/$wasm/release/storage_mux_sim.wasm" "$hashed" | diff "$known" - ||
    fail "on wasm32 the same seed runs otherwise"
