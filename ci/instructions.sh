#!/usr/bin/env bash
# Nothing that the library does costs over 5% more instructions than benches/instructions.txt says.
# `ci/instructions.sh --bless` puts the present counts there.
#
# A case runs twice, with different numbers of rounds, and the difference counts: start-up, loading
# and what happens once fall out. Patch releases of Rust hardly change generated code, so they stay
# within the tolerance; a release with another LLVM may not, so it gets a wider one, and says so.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/benches/target}
known=benches/instructions.txt
few=500
many=2500

# Ends the script where this machine cannot count: badly in CI, loudly elsewhere.
cannot() {
    [[ ${CI:-} != true ]] || fail "$*"
    loud "$*"
    exit 0
}

need_valgrind() {
    command -v valgrind >/dev/null && return
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        run apt-get update -qq || true
        run env DEBIAN_FRONTEND=noninteractive \
            apt-get install -qq --no-install-recommends valgrind libc6-dbg >/dev/null || true
    fi
    command -v valgrind >/dev/null ||
        cannot "valgrind is not installed and cannot be had: instructions were NOT counted"
}

# All instructions of a run.
executed() {
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
        "$CARGO_TARGET_DIR/release/instructions" "$1" "$2" 2>&1 |
        sed -n 's/.*I *refs: *//p' | tr -d ,
}

[[ $(uname -m) == x86_64 ]] || cannot "$known is of x86-64: instructions were NOT counted"
need_component rustfmt fmt
need_component clippy clippy
need_valgrind
(cd benches && run cargo fmt --check)
without_peers=(--locked --release --manifest-path benches/Cargo.toml --no-default-features --features std)
run cargo clippy "${without_peers[@]}" -- -D warnings
run cargo build "${without_peers[@]}" --bin instructions

release=$(rustc --version | sed -n 's/^rustc \([0-9]*\.[0-9]*\)\..*/\1/p')
now=$CARGO_TARGET_DIR/instructions.txt
printf '# Instructions of one operation, on x86-64 by Rust %s.\n' "$release" >"$now"
while read -r case; do
    short=$(executed "$case" "$few")
    long=$(executed "$case" "$many")
    [[ -n $short && -n $long ]] || fail "valgrind did not count '$case'"
    printf '%s: %d\n' "$case" $(((long - short) / (many - few))) >>"$now"
done < <("$CARGO_TARGET_DIR/release/instructions")
if [[ ${1:-} == --bless ]]; then
    run cp "$now" "$known"
fi

tolerance=5
if ! grep -q "by Rust $release\.\$" "$known"; then
    tolerance=15
    loud "$known is of another release than Rust $release: the tolerance is $tolerance%"
fi
more=0
less=0
while IFS=: read -r case before; do
    [[ $case != \#* ]] || continue
    after=$(sed -n "s/^$case: //p" "$now")
    [[ -n $after ]] || fail "$case was not counted"
    printf '%-30s %6d, was %6d\n' "$case" "$after" "$before"
    if [[ $((after * 100)) -gt $((before * (100 + tolerance))) ]]; then
        printf 'error: %s costs over %d%% more\n' "$case" "$tolerance" >&2
        more=1
    fi
    [[ $((after * 100)) -ge $((before * 95)) ]] || less=1
done <"$known"
[[ $(wc -l <"$now") == "$(wc -l <"$known")" ]] || fail "$known does not list what is counted"
[[ $more == 0 ]] || fail "make it cheaper, or accept the counts with ci/instructions.sh --bless"
[[ $less == 0 ]] || loud "something got over 5% cheaper: keep that with ci/instructions.sh --bless"
printf 'no case costs over %d%% more than %s says\n' "$tolerance" "$known"
