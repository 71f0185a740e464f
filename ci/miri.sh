#!/usr/bin/env bash
# The unit tests in Miri. This crate has no `unsafe`; what it stands on has: listener lists, the
# read-copy-update pointer, byte buffers, fixed-capacity vectors, as they are used here.
#
# Needs a nightly toolchain with Miri and fetches it where it may. Outside CI it says loudly that it
# could not, and that nothing was checked.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

package=tests/core
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}

if ! cargo +nightly miri --version >/dev/null 2>&1 &&
    ! run rustup toolchain install nightly --profile minimal --component miri,rust-src; then
    [[ ${CI:-} != true ]] || fail "a nightly toolchain with Miri cannot be had"
    loud "a nightly toolchain with Miri cannot be had: NOTHING was checked in it"
    exit 0
fi
run cargo +nightly miri setup

# Thousands of draws or sets, to hold a rule of arithmetic: minutes each here, and nothing to find.
long=(alias_table::tests::seeded_draws alias_table::tests::a_zero_weight set::tests::the_nth
    weighted::tests::one_three_six weighted::tests::a_call_that_moves_on sim::dice::
    reservoir::tests::a_hundred_thousand reservoir::tests::each_of_five
    reservoir::tests::a_record_that_knows)
skips=()
for each in "${long[@]}"; do skips+=(--skip "$each"); done

in_miri() {
    run cargo +nightly miri test --locked --manifest-path "$package/Cargo.toml" --lib \
        --features "$1" -- "${skips[@]}" "${@:2}"
}
# With the kit, whose executor wakes and drops tasks; then with std, which brings its own snapshots
# and changes nothing in the modes.
in_miri sim
in_miri std --skip mode::
