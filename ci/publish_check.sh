#!/usr/bin/env bash
# The package for the registry holds what its readers need and nothing of this project's kitchen.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What a build leaves behind is ignored, and so must not be kept either.
left=$(git ls-files --cached --ignored --exclude-standard | paste -sd' ')
[[ -z $left ]] || fail "files are kept that .gitignore names: $left"

run cargo package --locked --allow-dirty --no-verify
packaged=$(cargo package --locked --allow-dirty --list)

for file in Cargo.toml README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE src/lib.rs; do
    grep -qx "$file" <<<"$packaged" || fail "the package lacks $file"
done
kitchen=$(grep -E '^(\.ci|ci|target)/|\.(env|pem|key|log|orig)$' <<<"$packaged" | grep -vx Cargo.toml.orig || true)
[[ -z $kitchen ]] || fail "the package holds files of no use to its readers: $kitchen"
printf 'the package holds %s files\n' "$(wc -l <<<"$packaged")"
