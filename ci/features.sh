#!/usr/bin/env bash
# Features only add: each builds alone, without any and with the ones it is used with.
# Warnings are denied, so code that only one feature uses must be gated with it.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The pairs that meet in one place: a lock or a format that std changes, a store on a runtime, two
# bindings in one module.
pairs=("serde,std" "defmt,std" "serde,defmt" "sim,std" "sim,serde" "sim,tokio" "tokio,object-store"
    "tracing,std" "tracing,opentelemetry" "tokio,smol,async-std" "smol,object-store" "tokio,opendal" "object-store,opendal"
    "embassy,defmt" "embassy,std")

need_component clippy clippy
known=$(features)
[[ $(wc -l <<<"$known") -ge 3 ]] || fail "the features of Cargo.toml could not be read"

sets=("")
while read -r feature; do sets+=("$feature"); done <<<"$known"
sets+=("${pairs[@]}")

for set in "${sets[@]}"; do
    run cargo clippy --locked --lib --features "$set" -- -D warnings
done
# The tests as somebody runs them who tries the kit without std.
run cargo clippy --locked --tests --features sim -- -D warnings

if cargo hack --version >/dev/null 2>&1; then
    run cargo hack clippy --locked --lib --feature-powerset --depth 2 -- -D warnings
else
    loud "cargo-hack is not installed: of all pairs of features only the written ones were built"
fi
