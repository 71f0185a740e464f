#!/usr/bin/env bash
# Plants small bugs, one at a time, and shows that the tests find each: the simulation first, then
# the other tests of the core. `ci/planted.sh` plants a handful, `ci/planted.sh all` every patch of
# ci/planted, `ci/planted.sh NAME..` those. A patch that no longer applies is a failure: bring it up
# to date, or the tests it stands for are no longer shown to find anything.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# One each of health, streams, dropped futures and fan-out.
handful=(old_success_counts broken_stream_ends_clean dropped_caller_leaks partial_write_not_told)
seeds=600
tests=(--lib "--test retry" "--test modes" "--test mux" "--test model")

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
tree=$CARGO_TARGET_DIR/planted
log=$CARGO_TARGET_DIR/planted.log
# What is left to run when a planted bug hangs a test.
patience=240

names=("$@")
case ${1:-} in
"") names=("${handful[@]}") ;;
all) names=() && for patch in ci/planted/*.patch; do names+=("$(basename "$patch" .patch)"); done ;;
esac

rm -rf "$tree"
mkdir -p "$tree"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$tree"

# Whether the simulation fails. A tree that does not compile proves nothing.
simulation() {
    cargo build --locked --quiet --manifest-path "$tree/ci/sim/Cargo.toml" --bin sim >"$log" 2>&1 ||
        { cat "$log" && fail "the tree does not compile"; }
    ! SIM_FAIL_FAST=1 timeout "$patience" "$CARGO_TARGET_DIR/debug/sim" "$seeds" >"$log" 2>&1
}

# Whether one of the other tests fails; it stands in `by` then.
others() {
    for by in "${tests[@]}"; do
        # shellcheck disable=SC2086
        cargo test --locked --quiet --all-features --manifest-path "$tree/Cargo.toml" $by --no-run \
            >"$log" 2>&1 || { cat "$log" && fail "the tree does not compile"; }
        # shellcheck disable=SC2086
        timeout "$patience" cargo test --locked --quiet --all-features \
            --manifest-path "$tree/Cargo.toml" $by >"$log" 2>&1 || return 0
    done
    return 1
}

simulation && { cat "$log" && fail "the simulation fails without any bug planted"; }

survivors=()
for name in "${names[@]}"; do
    patch=ci/planted/$name.patch
    [[ -f $patch ]] || fail "there is no $patch"
    patch --quiet --fuzz=0 --strip=1 --directory="$tree" <"$patch" >"$log" 2>&1 ||
        { cat "$log" && fail "$patch does not apply any more"; }
    if simulation; then
        printf '%-28s found by the simulation: %s\n' "$name" "$(head -n1 "$log" | cut -c1-110)"
    elif others; then
        printf '%-28s found by %s\n' "$name" "$by"
    else
        printf '%-28s NOT FOUND: %s\n' "$name" "$(head -n1 "$patch")"
        survivors+=("$name")
    fi
    patch --quiet --reverse --strip=1 --directory="$tree" <"$patch"
done

[[ ${#survivors[@]} == 0 ]] || fail "no test finds: ${survivors[*]}"
printf '%s planted bugs, all found\n' "${#names[@]}"
