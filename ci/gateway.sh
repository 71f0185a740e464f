#!/usr/bin/env bash
# The HTTP service of the examples, as a user starts it: it serves, refuses, and ends when told to.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if ! command -v curl >/dev/null; then
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        run apt-get update -qq || true
        run env DEBIAN_FRONTEND=noninteractive \
            apt-get install -qq --no-install-recommends curl >/dev/null || true
    fi
    if ! command -v curl >/dev/null; then
        [[ ${CI:-} != true ]] || fail "curl cannot be had: the gateway was NOT run"
        loud "curl is not installed: the gateway was NOT run"
        exit 0
    fi
fi

run cargo build --locked --quiet --example gateway --features config,tokio
binary=${CARGO_TARGET_DIR:-target}/debug/examples/gateway

stage=$(mktemp -d)
pid=""
leave() {
    [[ -z $pid ]] || kill -9 "$pid" 2>/dev/null || true
    rm -rf "$stage"
}
trap leave EXIT
mkdir "$stage/disk"
cat >"$stage/mux.toml" <<TOML
mode = "shield"
[[backend]]
name = "disk"
url = "file://$stage/disk"
[[backend]]
name = "memory"
url = "memory://"
TOML

# Off loopback it must not start without a token.
! "$binary" "$stage/mux.toml" --listen 0.0.0.0:0 >"$stage/refused" 2>&1 ||
    fail "the gateway is open to strangers"
grep -q GATEWAY_TOKEN "$stage/refused" || fail "the refusal names no way out"

GATEWAY_TOKEN=s3cret "$binary" "$stage/mux.toml" --listen 127.0.0.1:0 >"$stage/log" 2>&1 &
pid=$!
for _ in $(seq 100); do
    grep -qs '^listening' "$stage/log" && break
    sleep 0.1
done
base=$(sed -n 's/^listening on //p' "$stage/log")
[[ -n $base ]] || fail "the gateway does not listen: $(cat "$stage/log")"

# Expects a status of a request.
expect() {
    local status=$1 got
    shift
    got=$(curl -sS --max-time 20 -o "$stage/body" -w '%{http_code}' "$@")
    [[ $got == "$status" ]] || fail "$* answers $got and not $status: $(cat "$stage/body")"
    printf '%s  %s\n' "$status" "${*: -1}"
}
token=(-H 'Authorization: Bearer s3cret')

head -c 20000000 /dev/urandom >"$stage/value"
expect 401 "$base/objects/dir/value"
expect 204 "${token[@]}" -T "$stage/value" "$base/objects/dir/value"
cmp "$stage/value" "$stage/disk/dir/value%f" || fail "the disk lacks the value"
expect 200 "${token[@]}" "$base/objects/dir/value"
cmp "$stage/value" "$stage/body" || fail "another value comes back"
expect 206 "${token[@]}" -r 5-9 "$base/objects/dir/value"
cmp <(tail -c +6 "$stage/value" | head -c 5) "$stage/body" || fail "another range comes back"
expect 200 "${token[@]}" "$base/objects?prefix=dir/"
grep -q '"key":"dir/value"' "$stage/body" || fail "the listing lacks the key"
expect 200 "$base/health"
expect 200 "${token[@]}" "$base/metrics"
grep -q '^storage_mux_backend_up{backend="disk"} 1$' "$stage/body" || fail "no figures"
expect 204 "${token[@]}" -X DELETE "$base/objects/dir/value"
expect 404 "${token[@]}" "$base/objects/dir/value"

kill -TERM "$pid"
wait "$pid" || fail "the gateway ends badly: $(cat "$stage/log")"
pid=""
grep -q '^disk: drained$' "$stage/log" || fail "the disk was not drained: $(cat "$stage/log")"
printf 'the gateway serves, refuses and ends as it should\n'
