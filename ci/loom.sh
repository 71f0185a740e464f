#!/usr/bin/env bash
# What shares state without a lock, run under every order in which its threads could act: swaps of
# the roster, calls in flight against a drain, the probe slot, the sample of latencies, aborts.
# The models stand beside what they model, in src/**/models.rs.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

package=tests/core
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
export RUSTFLAGS="--cfg loom"
# A bound on how often a thread is stopped where it need not wait. Orders grow fast with it, and
# with threads that wait for one another: those models get the smaller one.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
models() {
    export LOOM_MAX_PREEMPTIONS=$1
    local which=$2
    shift 2
    run cargo test --locked --release --manifest-path "$package/Cargo.toml" --lib "$which" -- "$@" \
        2>&1 | tee "$log"
}
models 4 models:: --skip two_waiters_ --skip two_who_wait_ --skip two_calls_are_ --skip that_is_refused_
models 3 that_is_refused_
models 2 models::

# A filter that finds nothing passes too.
written=$(grep -rhF --include=models.rs '#[test]' src | wc -l)
ran=$(sed -n 's/^test result: ok\. \([0-9]*\) passed.*/\1/p' "$log")
[[ -n $ran && $ran == "$written" && $written -gt 0 ]] ||
    fail "$written models are written and ${ran:-none} ran"
