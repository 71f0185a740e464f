#!/usr/bin/env bash
# Prints the folder of wasm-bindgen's command line, of just the version that Cargo.lock names. Where
# there is none it is installed first, beside cargo's own programs: once, some minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

version=$(awk '/^name = "wasm-bindgen"$/ { getline; gsub(/"/, ""); print $3 }' Cargo.lock)
tools=${CARGO_HOME:-$HOME/.cargo}/wasm-bindgen-$version

for found in "$tools/bin/wasm-bindgen" "$(command -v wasm-bindgen || true)"; do
    if [[ -n $found && $("$found" --version 2>/dev/null) == "wasm-bindgen $version" ]]; then
        dirname "$found"
        exit 0
    fi
done

# It reads modules of some megabytes: built without optimisation it takes a second more for each, and
# three minutes of processor time less to build. TLS is for a browser on another machine: left out.
export CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256
export CARGO_PROFILE_RELEASE_DEBUG=0
install=(cargo install wasm-bindgen-cli --version "$version" --root "$tools" --quiet
    --no-default-features --bin wasm-bindgen --bin wasm-bindgen-test-runner)
# With the versions that it was released with; where a registry lacks one of them, without.
printf 'installing wasm-bindgen-cli %s into %s\n' "$version" "$tools" >&2
"${install[@]}" --locked >&2 || "${install[@]}" >&2
printf '%s\n' "$tools/bin"
