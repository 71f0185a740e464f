#!/usr/bin/env bash
# Builds the page's module into pkg/. Then: node examples/browser/serve.mjs 8080
# Fetches the target and wasm-bindgen's command line where they are missing. Takes the profile,
# `release` if none is named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

profile=${1:-release}
target=wasm32-unknown-unknown
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}
if command -v rustup >/dev/null && ! rustup target list --installed | grep -qx "$target"; then
    rustup target add "$target"
fi
tools=$(./wasm_bindgen.sh)
cargo build --locked --profile "$profile" --target "$target"
folder=$CARGO_TARGET_DIR/$target/${profile/#dev/debug}
"$tools/wasm-bindgen" --target web --no-typescript --out-dir pkg \
    "$folder/storage_mux_browser_example.wasm"
