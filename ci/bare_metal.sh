#!/usr/bin/env bash
# The library builds, without a warning, where there is no operating system. A crate that is
# `no_std` on a host alone has not been tried: these targets have no std to fall back on, and
# thumbv6m has no compare-and-swap.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

targets=(thumbv7m-none-eabi thumbv6m-none-eabi wasm32-unknown-unknown)
sets=("" "serde" "defmt" "embassy" "flash" "defmt,flash" "serde,defmt,sim")

installed=$(rustup target list --installed)
for target in "${targets[@]}"; do
    grep -qx "$target" <<<"$installed" || run rustup target add "$target"
done

for target in "${targets[@]}"; do
    for set in "${sets[@]}"; do
        # `cargo rustc` is `cargo build` that denies warnings here and not in the dependencies.
        run cargo rustc --locked --lib --target "$target" --features "$set" -- -D warnings
    done
done
# `tracing` itself asks for compare-and-swap, so thumbv6m has no binding to it.
for target in thumbv7m-none-eabi wasm32-unknown-unknown; do
    run cargo rustc --locked --lib --target "$target" --features tracing -- -D warnings
done
