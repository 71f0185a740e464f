# Shared by the scripts of this folder; sourced, never run.
# Each script works by hand from any folder and prints the commands that it runs.
# shellcheck shell=bash

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Runs a command after showing it.
run() {
    printf '+ %s\n' "$*"
    "$@"
}

# Says what a reader must not overlook.
loud() {
    printf '\n!!! %s\n\n' "$*"
}

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Adds a component of the toolchain where the machine came without it.
need_component() {
    cargo "$2" --version >/dev/null 2>&1 || run rustup component add "$1"
}

# The value of a key of [package] in Cargo.toml.
package_key() {
    sed -n "/^\[package\]/,/^\[/s/^$1 = \"\(.*\)\"$/\1/p" Cargo.toml
}

# The features of Cargo.toml, one a line, without `default`.
features() {
    sed -n '/^\[features\]/,/^\[[a-z]*dep/s/^\([a-z][a-z0-9_-]*\) = .*/\1/p' Cargo.toml |
        grep -vx default
}

# Counts what a table of measurements says, and with `--write` as the third argument puts it into
# the README, between the markers of that name.
finish_table() {
    local table=$1 marker=$2 written short
    short=$(grep -c '\*\*short\*\*' "$table" || true)
    printf '\n%s of %s targets are met\n' "$(grep -c '| pass |' "$table" || true)" \
        "$(grep -cE '\| (pass|\*\*short\*\*) \|' "$table" || true)"
    if [[ ${3:-} == --write ]]; then
        written=$(mktemp)
        awk -v table="$table" -v marker="$marker" '
            $0 == "<!-- " marker ":end -->" { inside = 0 }
            !inside { print }
            $0 == "<!-- " marker ":begin -->" {
                inside = 1
                while ((getline line < table) > 0) print line
            }
        ' README.md >"$written"
        cat "$written" >README.md
        rm "$written"
        printf 'README.md holds the table\n'
    fi
    [[ $short == 0 ]] || loud "$short targets are missed"
}
