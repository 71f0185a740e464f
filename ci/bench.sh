#!/usr/bin/env bash
# Side by side with the peers: one table, every ratio taken within one run. Run by hand, on a quiet
# machine; `--write` puts the table and the picture into the README.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/benches/target}
plot=benches/hung_primary.png
[[ ${1:-} == --write ]] || plot=$CARGO_TARGET_DIR/hung_primary.png

run cargo build --quiet --locked --release --manifest-path benches/Cargo.toml --bin compare
table=$CARGO_TARGET_DIR/bench.md
"$CARGO_TARGET_DIR/release/compare" --plot "$plot" | tee "$table"

# A cold build of what everyone gets, the crates already fetched. The best of three: whatever else
# the machine does only adds to it.
run cargo fetch --quiet --locked
cold=$CARGO_TARGET_DIR/cold
best=
for _ in 1 2 3; do
    rm -rf "$cold"
    begun=$(date +%s%N)
    CARGO_TARGET_DIR=$cold run cargo build --quiet --locked --offline --lib >&2
    took=$((($(date +%s%N) - begun) / 10000000))
    [[ -n $best && $best -le $took ]] || best=$took
done
verdict=pass
[[ $best -le 1000 ]] || verdict='**short**'
printf '| cold build of the default features, %s cores | %d.%02d s | | | | ≤ 10 s | %s |\n' \
    "$(nproc)" $((best / 100)) $((best % 100)) "$verdict" | tee -a "$table"
finish_table "$table" bench "${1:-}"
printf 'the picture is %s\n' "$plot"
