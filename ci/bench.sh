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
short=$(grep -c '\*\*short\*\*' "$table" || true)
printf '\n%s of %s targets are met; the picture is %s\n' \
    "$(grep -c '| pass |' "$table" || true)" \
    "$(grep -cE '\| (pass|\*\*short\*\*) \|' "$table" || true)" "$plot"

if [[ ${1:-} == --write ]]; then
    awk -v table="$table" '
        /<!-- bench:end -->/ { inside = 0 }
        !inside { print }
        /<!-- bench:begin -->/ { inside = 1; while ((getline line < table) > 0) print line }
    ' README.md >"$CARGO_TARGET_DIR/README.md"
    cp "$CARGO_TARGET_DIR/README.md" README.md
    printf 'README.md holds the table\n'
fi
[[ $short == 0 ]] || loud "$short targets are missed"
