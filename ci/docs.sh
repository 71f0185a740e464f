#!/usr/bin/env bash
# The documentation builds without a warning, whichever features are on. Its examples are compiled
# and run by `cargo test`.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export RUSTDOCFLAGS="-D warnings"
run cargo doc --locked --no-deps --all-features
run cargo doc --locked --no-deps
