#!/usr/bin/env bash
# Every example that needs nothing but memory runs and ends well.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for example in failover round_robin weighted sticky_by_key shield mirror; do
    run cargo run --locked --quiet --example "$example"
done
