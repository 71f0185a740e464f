#!/usr/bin/env bash
# Each fuzz target for SECONDS, ten by default: `ci/fuzz.sh 600`. Starts from fuzz/seeds; what it
# finds lies in fuzz/artifacts, and what it has learnt in fuzz/corpus.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

seconds=${1:-10}

cannot() {
    [[ ${CI:-} != true ]] || fail "$*"
    loud "$*"
    exit 0
}

rustup run nightly rustc --version >/dev/null 2>&1 ||
    run timeout 600 rustup toolchain install nightly --profile minimal --no-self-update ||
    cannot "no nightly toolchain can be had: NOTHING was fuzzed"
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
export PATH=$tools/bin:$PATH
command -v cargo-fuzz >/dev/null ||
    run cargo install --quiet --locked --debug --root "$tools" --target-dir "$tools/target" cargo-fuzz ||
    run cargo install --quiet --debug --root "$tools" --target-dir "$tools/target" cargo-fuzz ||
    cannot "cargo-fuzz cannot be had: NOTHING was fuzzed"

target_dir=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
# One build for all: the sanitizer finds what safe code cannot do, so it is left out.
run cargo +nightly fuzz build --sanitizer none --target-dir "$target_dir"
for target in operations documents keys faults; do
    mkdir -p "fuzz/corpus/$target"
    run cargo +nightly fuzz run --sanitizer none --target-dir "$target_dir" "$target" \
        "fuzz/corpus/$target" "fuzz/seeds/$target" -- -max_total_time="$seconds" -print_final_stats=1 -verbosity=0 2>&1 | grep -v "NEW_FUNC\|^\"\|Recommended dictionary"
done
