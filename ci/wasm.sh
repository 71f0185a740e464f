#!/usr/bin/env bash
# The library under JavaScript hosts: its claims about runtimes and its timers in Node, in a page
# and in a worker of headless Chromium; its storages in the browser against the browser's own
# database and a server on loopback; and the example page, looked at by the browser.
#
# Needs Node 20 or newer; fetches the target, wasm-bindgen's command line and Chromium itself where
# they are missing. Outside CI it says loudly what it could not have and so did not check.
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

# The command line must be of just the version that the packages are locked to.
locked() {
    awk '/^name = "wasm-bindgen"$/ { getline; gsub(/"/, ""); print $3 }' "$1/Cargo.lock"
}
version=$(locked "$package")
[[ $version == "$(locked examples/browser)" ]] ||
    fail "$package and examples/browser are locked to different versions of wasm-bindgen"
# Kept beside cargo's own, under its version, so that the next clone finds it.
tools=${CARGO_HOME:-$HOME/.cargo}/wasm-bindgen-$version
export PATH=$tools/bin:$PATH
if [[ $(wasm-bindgen --version 2>/dev/null) != "wasm-bindgen $version" ]]; then
    # With the versions that it was released with; where a registry lacks one of them, without.
    install=(cargo install wasm-bindgen-cli --version "$version" --root "$tools"
        --target-dir "$CARGO_TARGET_DIR/wasm-tools-build" --quiet)
    run "${install[@]}" --locked || run "${install[@]}" || true
fi
if ! wasm-bindgen-test-runner --version >/dev/null 2>&1; then
    missing "wasm-bindgen-cli $version cannot be had" "any host"
    exit 0
fi
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

if node --version >/dev/null 2>&1; then
    need_server
    wasm_test --test runtime --test platform --test timers
    wasm_test --test fetch
else
    missing "Node cannot be had" "Node, nor fetch anywhere"
fi

if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        run apt-get update -qq
        DEBIAN_FRONTEND=noninteractive run apt-get install -y -qq --no-install-recommends \
            chromium chromium-driver >/dev/null || true
    fi
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
