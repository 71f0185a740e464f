#!/usr/bin/env bash
# The library under JavaScript hosts: its claims about runtimes and its timers in Node, in a page
# and in a worker of headless Chromium; its storages in the browser against the browser's own
# database and a server on loopback; and the example page, looked at by the browser.
#
# Fetches the target, wasm-bindgen's command line, Node (18 or newer) and Chromium itself where they
# are missing. Outside CI it says loudly what it could not have and so did not check.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

package=tests/wasm
target=wasm32-unknown-unknown
# For the compiler's output of the packages that are none of this one's members.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
# Where a test hangs, it fails.
export WASM_BINDGEN_TEST_TIMEOUT=180

# In CI everything must be had; by hand what is missing is said and left out.
missing() {
    [[ ${CI:-} != true ]] || fail "$1"
    loud "$1: NOT checked under $2"
}

rustup target list --installed | grep -qx "$target" || run rustup target add "$target"

# Nothing of the features but what is for this target, and no warning in either.
for set in wasm web "web,serde,sim"; do
    run cargo clippy --locked --lib --target "$target" --features "$set" -- -D warnings
done
RUSTDOCFLAGS="-D warnings" run cargo doc --locked --no-deps --target "$target" --features web
for each in "$package" examples/browser; do
    run cargo fmt --manifest-path "$each/Cargo.toml" --check
done
run cargo clippy --locked --manifest-path "$package/Cargo.toml" --target "$target" --all-targets -- \
    -D warnings
run cargo clippy --locked --manifest-path examples/browser/Cargo.toml --target "$target" -- \
    -D warnings

# The command line must be of just the version that both packages are locked to.
locked() {
    grep -A1 -x 'name = "wasm-bindgen"' "$1/Cargo.lock"
}
[[ $(locked "$package") == "$(locked examples/browser)" ]] ||
    fail "$package and examples/browser are locked to different versions of wasm-bindgen"
if ! tools=$(examples/browser/wasm_bindgen.sh); then
    missing "wasm-bindgen's command line cannot be had" "any host"
    exit 0
fi
export PATH=$tools:$PATH
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER=wasm-bindgen-test-runner

wasm_test() {
    run cargo test --locked --manifest-path "$package/Cargo.toml" --target "$target" "$@"
}

# A server for `fetch`, which ends with this script.
need_server() {
    [[ -z ${STORAGE_MUX_TEST_SERVER:-} ]] || return 0
    coproc SERVER { exec node "$package/server.mjs"; }
    read -r -t 20 STORAGE_MUX_TEST_SERVER <&"${SERVER[0]}" || fail "the test server does not start"
    export STORAGE_MUX_TEST_SERVER
}

# Installs packages of Debian, where the rights and the tools for it are there.
updated=
need_packages() {
    [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null || return 0
    [[ -n $updated ]] || run apt-get update -qq
    updated=yes
    DEBIAN_FRONTEND=noninteractive run apt-get install -y -qq --no-install-recommends "$@" \
        >/dev/null || true
}

command -v node >/dev/null || need_packages nodejs
if node --version >/dev/null 2>&1; then
    need_server
    wasm_test --test runtime --test platform --test timers
    wasm_test --test fetch
    # A host without cryptography, as Node 18 is.
    NODE_OPTIONS=--no-experimental-global-webcrypto wasm_test --test timers seeds
else
    missing "Node cannot be had" "Node, nor fetch anywhere"
fi

if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
    need_packages chromium chromium-driver
fi
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
    CHROMEDRIVER=$(command -v chromedriver)
    export CHROMEDRIVER
    WASM_BINDGEN_USE_BROWSER=1 wasm_test --test runtime --test platform --test timers
    WASM_BINDGEN_USE_BROWSER=1 wasm_test --test indexed_db
    WASM_BINDGEN_USE_DEDICATED_WORKER=1 wasm_test --test runtime --test timers
    WASM_BINDGEN_USE_DEDICATED_WORKER=1 wasm_test --test indexed_db
    if [[ -n ${STORAGE_MUX_TEST_SERVER:-} ]]; then
        WASM_BINDGEN_USE_BROWSER=1 wasm_test --test fetch
    fi
    run examples/browser/check.sh
else
    missing "Chromium and its driver cannot be had" "a browser"
fi
