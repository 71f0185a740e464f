#!/usr/bin/env bash
# Builds the page's module into pkg/. Then: node examples/browser/serve.mjs 8080
# Needs the target wasm32-unknown-unknown, and wasm-bindgen's command line of the version that
# Cargo.lock names. Takes the profile, `release` if none is named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

profile=${1:-release}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}
cargo build --locked --profile "$profile" --target wasm32-unknown-unknown
folder=$CARGO_TARGET_DIR/wasm32-unknown-unknown/${profile/#dev/debug}
wasm-bindgen --target web --no-typescript --out-dir pkg "$folder/storage_mux_browser_example.wasm"
