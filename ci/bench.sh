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
finish_table "$table" bench "${1:-}"
printf 'the picture is %s\n' "$plot"
