#!/usr/bin/env bash
# Changes the decisions of the library one spot at a time and counts how many of the changes a test
# notices: `ci/mutants.sh` for all four folders, half an hour on two quiet cores,
# `ci/mutants.sh retry` for one. Fails under nine in ten. What no test noticed is listed at the end,
# with what was done in TARGET/mutants/FOLDER/mutants.out/diff.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

least=90

# The tests of each folder: the quick ones see every mutant, the others what those left over.
declare -A quick=([mode]="--lib" [health]="--lib" [retry]="--test=retry" [stats]="--lib")
declare -A slow=(
    [mode]="--test=modes --test=mux"
    [health]="--test=mux"
    [retry]="--lib --test=mux --test=cases"
    [stats]="--test=cases --test=mux"
)

cannot() {
    [[ ${CI:-} != true ]] || fail "$*"
    loud "$*"
    exit 0
}

target=${CARGO_TARGET_DIR:-$PWD/target}
tools=$target/tools
export PATH=$tools/bin:$PATH
command -v cargo-mutants >/dev/null ||
    run cargo install --quiet --locked --debug --root "$tools" --target-dir "$tools/target" cargo-mutants ||
    cannot "cargo-mutants cannot be had: NOTHING was mutated"

# Each mutant is a build: one of its own, without what only a debugger reads.
export CARGO_TARGET_DIR=$target/mutants
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
# A loop that no longer ends may fill a list: it shall meet a limit before the machine does.
ulimit -v 8000000

# One run over a folder with some of the tests. Arguments: the folder, the tests, further options.
mutate() {
    local folder=$1 tests=() test status=0
    for test in $2; do tests+=(--cargo-arg="$test"); done
    shift 2
    mkdir -p "$CARGO_TARGET_DIR/$folder"
    run cargo mutants --config ci/mutants.toml --output "$CARGO_TARGET_DIR/$folder" \
        --file "src/$folder/**" --no-times "${tests[@]}" "$@" || status=$?
    # Some were missed, or some ran too long: that is the figure that is wanted.
    [[ $status == 0 || $status == 2 || $status == 3 ]] || fail "cargo-mutants ended with $status"
}

lines() {
    wc -l <"$1"
}

low=()
scores=()
folders=("$@")
[[ $# != 0 ]] || folders=(mode health retry stats)
for folder in "${folders[@]}"; do
    [[ -n ${quick[$folder]:-} ]] || fail "there are no tests named for src/$folder"
    out=$CARGO_TARGET_DIR/$folder/mutants.out
    rm -rf "$out" "$out.old"
    mutate "$folder" "${quick[$folder]}"
    unviable=$(lines "$out/unviable.txt")
    # A test that never ends notices, too.
    endless=$(lines "$out/timeout.txt")
    cat "$out/timeout.txt" >>"$out/caught.txt"
    all=$(($(lines "$out/caught.txt") + $(lines "$out/missed.txt")))
    [[ $all != 0 ]] || fail "src/$folder has no mutants"
    if [[ -s $out/missed.txt ]]; then
        mutate "$folder" "${slow[$folder]}" --iterate
        endless=$((endless + $(lines "$out/timeout.txt")))
    fi
    missed=$(lines "$out/missed.txt")
    percent=$(((all - missed) * 1000 / all))
    scores+=("$(printf '%-7s %4d caught, %d of them by running on for ever; %d missed; %d do not compile: %d.%d%%' \
        "$folder" $((all - missed)) "$endless" "$missed" "$unviable" $((percent / 10)) $((percent % 10)))")
    ((percent >= least * 10)) || low+=("$folder")
done

for folder in "${folders[@]}"; do
    cat "$CARGO_TARGET_DIR/$folder/mutants.out/missed.txt"
done
printf '%s\n' "${scores[@]}"
[[ ${#low[@]} == 0 ]] || fail "fewer than $least% were noticed in: ${low[*]}"
