#!/usr/bin/env bash
# The library is built from what it says and nothing else; each dependency has its reason.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The packages beside the library have locks of their own, which a change of the library's
# dependencies makes stale; whoever changes one is told here and not by the last script of all.
while read -r manifest; do
    cargo metadata --locked --format-version 1 --manifest-path "$manifest" >/dev/null ||
        fail "the lock beside $manifest is stale: run cargo metadata --manifest-path $manifest"
    printf '%s: its lock is up to date\n' "$manifest"
done < <(find . -name Cargo.toml -not -path '*/target/*' | sort)

# What a build with these features, for this target, is made of. Procedural macros run on the
# machine that compiles, so they do not count.
built() {
    cargo tree --locked --edges normal,no-proc-macro --prefix none --format '{p}' \
        --features "$1" --target "$2" | awk '{ print $1 }' | sort -u
}

# The features with a list of all that they may bring.
bounded=()

# Fails on a crate that is not in the list behind the first two arguments.
only() {
    local set=$1 target=$2 crates extra
    bounded+=("$set")
    shift 2
    # On its own, or what cargo says of a stale lock file would pass for a build of nothing.
    crates=$(built "$set" "$target")
    extra=$(grep -vxFf <(printf '%s\n' "$@") <<<"$crates" | paste -sd' ' || true)
    [[ -z $extra ]] || fail "features '$set' on $target pull in more than is written down: $extra"
    printf 'features "%s" on %s: as written down\n' "$set" "$target"
}

# Fails on a crate of the list behind the first two arguments.
never() {
    local set=$1 target=$2 crates found
    shift 2
    crates=$(built "$set" "$target")
    found=$(grep -xFf <(printf '%s\n' "$@") <<<"$crates" | paste -sd' ' || true)
    [[ -z $found ]] || fail "features '$set' on $target pull in $found"
    printf 'features "%s" on %s: none of %s\n' "$set" "$target" "$*"
}

core=(storage-mux byteorder bytes embassy-futures event-listener fnv foldhash futures-core
    futures-sink hash32 hashbrown heapless pin-project-lite portable-atomic rand_core
    stable_deref_trait thiserror)
bare=("${core[@]}" critical-section portable-atomic-util)
hosted=("${core[@]}" spin)
std=("${hosted[@]}" arc-swap parking)
runtimes=(tokio async-std smol async-io async-executor embassy-time embassy-executor
    wasm-bindgen js-sys web-sys)
stores=(object_store opendal)
telemetry=(tracing opentelemetry log)

host=$(rustc -vV | sed -n 's/^host: //p')
for target in thumbv6m-none-eabi thumbv7m-none-eabi; do
    only "" "$target" "${bare[@]}"
    only sim "$target" "${bare[@]}"
    only serde "$target" "${bare[@]}" serde serde_core
    only defmt "$target" "${bare[@]}" defmt bitflags
done
for target in wasm32-unknown-unknown "$host"; do
    only "" "$target" "${hosted[@]}"
    only sim "$target" "${hosted[@]}"
    only serde "$target" "${hosted[@]}" serde serde_core
    only defmt "$target" "${hosted[@]}" defmt bitflags
done
only std "$host" "${std[@]}"

# WASM under a JavaScript host stays free of std and, elsewhere, of itself.
script=("${hosted[@]}" gloo-timers wasm-bindgen wasm-bindgen-shared wasm-bindgen-futures js-sys
    futures-channel futures-task futures-util slab cfg-if unicode-ident)
only wasm wasm32-unknown-unknown "${script[@]}"
only web wasm32-unknown-unknown "${script[@]}" web-sys
for each in wasm web; do
    only "$each" "$host" "${hosted[@]}"
    only "$each" thumbv7m-none-eabi "${bare[@]}"
done

only tokio "$host" "${std[@]}" tokio
# Timers and tasks of smol, and no more of it: no files, no processes, no sockets of its own.
async_io=(async-io bitflags cfg-if concurrent-queue crossbeam-utils futures-io futures-lite
    linux-raw-sys parking polling rustix slab)
only smol x86_64-unknown-linux-gnu "${std[@]}" "${async_io[@]}" async-executor async-task fastrand
# All of async-std comes, since its executor does not come alone; but no other runtime.
only async-std x86_64-unknown-linux-gnu "${std[@]}" "${async_io[@]}" async-executor async-task \
    fastrand async-channel async-global-executor async-lock async-std atomic-waker blocking \
    event-listener-strategy kv-log-macro log memchr once_cell pin-utils piper value-bag
never async-std x86_64-unknown-linux-gnu tokio smol "${stores[@]}" tracing opentelemetry
embassy=(embassy-time embassy-time-driver cfg-if critical-section embedded-hal embedded-hal-async nb
    void)
for target in thumbv6m-none-eabi thumbv7m-none-eabi; do
    only embassy "$target" "${bare[@]}" "${embassy[@]}"
done
only embassy "$host" "${hosted[@]}" "${embassy[@]}"
for target in thumbv6m-none-eabi thumbv7m-none-eabi; do
    only flash "$target" "${bare[@]}" embedded-storage embedded-storage-async sequential-storage
done
only flash "$host" "${hosted[@]}" embedded-storage embedded-storage-async sequential-storage
only tracing thumbv7m-none-eabi "${bare[@]}" tracing tracing-core
only tracing "$host" "${hosted[@]}" tracing tracing-core
only opentelemetry "$host" "${std[@]}" opentelemetry
# The store's trait speaks of URLs (with the tables of Unicode for their hosts), dates and HTTP heads.
unicode=(icu_collections icu_locale_core icu_normalizer icu_normalizer_data icu_properties
    icu_properties_data icu_provider litemap potential_utf smallvec tinystr utf8_iter writeable yoke
    zerofrom zerotrie zerovec)
object_store=("${unicode[@]}" cfg-if chrono either form_urlencoded futures-task futures-util http
    humantime iana-time-zone idna idna_adapter itertools itoa libc lock_api num-traits
    object_store parking_lot parking_lot_core percent-encoding scopeguard slab url utf_types)
only object-store x86_64-unknown-linux-gnu "${std[@]}" "${object_store[@]}"
# The version before brings itself, and an iterator crate of its own age: both of known names.
only object-store-013 x86_64-unknown-linux-gnu "${std[@]}" "${object_store[@]}"
# OpenDAL comes with no service but memory; of tokio it takes what needs no runtime.
only opendal x86_64-unknown-linux-gnu "${std[@]}" "${unicode[@]}" anyhow asyncband base64 \
    block-buffer cfg-if const-oid crypto-common digest form_urlencoded futures futures-channel \
    futures-io futures-task futures-util getrandom http hybrid-array idna idna_adapter itoa jiff \
    jiff-core libc log md-5 memchr opendal opendal-core percent-encoding quick-xml serde serde_core \
    serde_json slab tokio typenum url utf_types uuid zmij
# Clients of S3, WebDAV and Redis bring HTTP, TLS and tokio; a list of them all would change with
# every release of theirs. What it must not bring is another way to do the same.
never config x86_64-unknown-linux-gnu async-std smol native-tls openssl openssl-sys ureq tracing-subscriber
bounded+=(config)

# The lists above leave no room for a runtime; this says it in so many words.
never "serde,defmt,sim,std" "$host" "${runtimes[@]}" "${stores[@]}" "${telemetry[@]}"
never tokio "$host" "${stores[@]}" "${telemetry[@]}" mio socket2
# Neither ecosystem of telemetry brings the other, an SDK or a runtime.
never tracing "$host" "${runtimes[@]}" "${stores[@]}" opentelemetry log tracing-subscriber
never opentelemetry "$host" "${runtimes[@]}" "${stores[@]}" tracing log opentelemetry_sdk
# The store's clouds bring a client, a TLS library and a runtime; whoever wants one asks for it.
never object-store "$host" "${runtimes[@]}" opendal reqwest hyper rustls ring aws-lc-rs quick-xml
never opendal "$host" async-std smol object_store reqwest hyper rustls ring aws-lc-rs mio socket2

# A feature that is added gets its list here.
unbounded=$(features | grep -vxFf <(printf '%s\n' "${bounded[@]}" | grep .) | paste -sd' ' || true)
[[ -z $unbounded ]] || fail "features without a list of what they may pull in: $unbounded"
printf 'every feature of Cargo.toml has its list\n'

# Each dependency stands below a comment of one line that gives the reason.
bare_lines=$(awk '
    /^\[/ { inside = /dependencies\]$/ }
    inside && /^[a-zA-Z0-9_-]+ *=/ && before !~ /^# ./ { print FNR ": " $0 }
    { before = $0 }
' Cargo.toml)
[[ -z $bare_lines ]] || fail "Cargo.toml has dependencies without a reason above them:
$bare_lines"
printf 'Cargo.toml: every dependency has its reason\n'

if cargo deny --version >/dev/null 2>&1; then
    run cargo deny --locked --all-features check --config ci/deny.toml
else
    loud "cargo-deny is not installed: licences and advisories were NOT checked (ci/deny.toml)"
fi
