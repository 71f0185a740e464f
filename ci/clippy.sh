#!/usr/bin/env bash
# No warning of the compiler or of clippy in the library, its tests, examples and benches.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_component clippy clippy
run cargo clippy --locked --all-targets --all-features -- -D warnings
run cargo clippy --locked --all-targets -- -D warnings
