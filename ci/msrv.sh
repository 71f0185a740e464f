#!/usr/bin/env bash
# The library compiles with the Rust version that Cargo.toml promises.
#
# Three checks, the weaker ones for machines that cannot have the old toolchain:
#   1. clippy's incompatible_msrv: nothing of core, alloc or std that is newer than promised;
#   2. no dependency of a feature asks for a newer Rust than we promise for it;
#   3. the old toolchain compiles the library.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Features that ask for a newer Rust than the rest and say so in the table of lib.rs.
newer=(opendal config flash)

msrv=$(package_key rust-version)
[[ $msrv =~ ^1\.[0-9]+(\.[0-9]+)?$ ]] || fail "Cargo.toml declares no rust-version"
printf 'Cargo.toml declares Rust %s\n' "$msrv"

set=$(features | grep -vxFf <(printf '%s\n' "${newer[@]}" | grep .) | paste -sd,)

need_component clippy clippy
# Clippy reads the version from Cargo.toml, so it is written down once.
run cargo clippy --locked --lib --features "$set" -- -D clippy::incompatible_msrv

# Prints "manifest-folder rust-version" of each package of a target; the two keys alternate.
declared() {
    cargo metadata --locked --format-version 1 --filter-platform "$1" |
        grep -oE '"manifest_path":"[^"]*"|"rust_version":("[^"]*"|null)' |
        sed -E 's/.*:"?([^"]*)"?$/\1/; s#.*/([^/]*)/Cargo\.toml$#\1#' |
        paste -d' ' - -
}
# Prints "name-version" of what the library is built from for a target with these features.
built() {
    cargo tree --locked --edges normal --target "$1" --prefix none --format '{p}' --features "$2" |
        awk '{ sub(/^v/, "", $2); print $1 "-" $2 }' | sort -u
}
# Fails on a dependency for a target that asks for a newer Rust with these features.
check_dependencies() {
    local target=$1 set=$2 too_new
    too_new=$(awk -v msrv="$msrv" '
        function number(version, part) {
            split(version, part, ".")
            return part[1] * 1e6 + part[2] * 1e3 + part[3]
        }
        NR == FNR { wanted[$1]; next }
        $1 in wanted { seen++ }
        $1 in wanted && $2 != "null" && number($2) > number(msrv) { print $1, "asks for Rust", $2 }
        END { if (seen < 10) print "the metadata could not be read" }
    ' <(built "$target" "$set") <(declared "$target"))
    [[ -z $too_new ]] || fail "features '$set' on $target: $too_new"
    printf 'features "%s" on %s: no dependency declares more than Rust %s\n' "$set" "$target" "$msrv"
}
host=$(rustc -vV | sed -n 's/^host: //p')
for target in "$host" thumbv7m-none-eabi thumbv6m-none-eabi wasm32-unknown-unknown; do
    check_dependencies "$target" ""
done
check_dependencies "$host" "$set"
check_dependencies wasm32-unknown-unknown web

if ! rustup run "$msrv" rustc --version >/dev/null 2>&1; then
    run timeout 300 rustup toolchain install "$msrv" --profile minimal --no-self-update || true
fi
if rustup run "$msrv" rustc --version >/dev/null 2>&1; then
    run cargo "+$msrv" check --locked --lib
    run cargo "+$msrv" check --locked --lib --features "$set"
else
    loud "Rust $msrv cannot be had on this machine: NOT compiled with it. Checked were the APIs" \
        "(clippy::incompatible_msrv) and what the dependencies declare; not checked were language" \
        "features and dependencies that declare nothing."
fi
