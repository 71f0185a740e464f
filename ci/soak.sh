#!/usr/bin/env bash
# A thousand callers in bad weather for SECONDS, ten minutes by default: `ci/soak.sh 60`. The test
# command runs the same for three seconds.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export SOAK_SECONDS=${1:-600}
run cargo test --locked --release --features tokio --test soak -- --nocapture
