#!/usr/bin/env bash
# Every file is formatted by rustfmt, with the settings of rustfmt.toml.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_component rustfmt fmt
run cargo fmt --all --check
