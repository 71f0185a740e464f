#!/usr/bin/env bash
# The library against real servers on loopback: S3, Redis and nginx with WebDAV. The tests start
# each on a free port, kill it, stop it and start it again; whatever is left ends with this script.
#
# Two servers speak S3, as none was complete:
#   s3s-fs 0.14.1 (a crate; `s3-server` in tests/services) serves a folder, so it survives a kill,
#     in 8 MB. `If-None-Match: *` and `If-Match` puts are refused with 412 as they should be, ranges
#     are right, an upload that is aborted leaves no part. Its folder cannot hold the objects `a`
#     and `a/b` at once, and it ignores conditions on reads, which we do not use.
#   moto 5.2.5 (pip) holds the same rules and both objects, but keeps all in memory and takes
#     100 MB: it serves the conformance suite alone.
#
# Fetches what is missing itself. In CI everything must be had; by hand what is missing is said.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

manifest=tests/services/Cargo.toml
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}

# Says what cannot be had, and leaves out its tests. In CI that is a failure.
left_out=()
missing() {
    [[ ${CI:-} != true ]] || fail "$1 cannot be had"
    loud "$1 cannot be had: NOT checked against it"
    shift
    for test in "$@"; do left_out+=(--skip "$test"); done
}

# Installs packages of the system, where this is a Debian and we may. Should the system start what
# it installs, it is on ports of its own; the tests never speak to it.
need_package() {
    local program=$1
    shift
    if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
        run apt-get update -qq || true
        run env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
            --no-install-recommends "$@" >/dev/null || true
    fi
    command -v "$program" >/dev/null
}

need_redis() {
    command -v redis-server >/dev/null || need_package redis-server redis-server
}

need_nginx() {
    export STORAGE_MUX_NGINX_MODULES=${STORAGE_MUX_NGINX_MODULES:-/usr/lib/nginx/modules}
    local module=$STORAGE_MUX_NGINX_MODULES/ngx_http_dav_ext_module.so
    # A user's path often lacks it.
    export PATH=$PATH:/usr/sbin
    { command -v nginx >/dev/null && [[ -e $module ]]; } ||
        { need_package nginx nginx libnginx-mod-http-dav-ext && [[ -e $module ]]; }
}

need_moto() {
    local folder=$CARGO_TARGET_DIR/moto
    export STORAGE_MUX_MOTO_SERVER=$folder/bin/moto_server
    [[ -x $STORAGE_MUX_MOTO_SERVER ]] && return
    if ! python3 -m venv "$folder" >/dev/null 2>&1; then
        need_package python3 python3 python3-venv || return
        run python3 -m venv "$folder" || return
    fi
    run "$folder/bin/pip" install --quiet --disable-pip-version-check 'moto[server]==5.2.5' || return
    [[ -x $STORAGE_MUX_MOTO_SERVER ]]
}

need_component rustfmt fmt
need_component clippy clippy
run cargo fmt --manifest-path "$manifest" --check
# Clippy compiles the package itself, which denies its findings: to check everything that lies below
# only to build it again would take as long as the rest of this.
RUSTC_WORKSPACE_WRAPPER=$(command -v clippy-driver)
export RUSTC_WORKSPACE_WRAPPER
run cargo test --locked --manifest-path "$manifest" --no-run
# The service of the examples, as its users run it.
run env -u RUSTC_WORKSPACE_WRAPPER cargo build --locked --example gateway --features config,tokio
export STORAGE_MUX_GATEWAY=$CARGO_TARGET_DIR/debug/examples/gateway

need_redis || missing "redis-server" redis failover
need_nginx || missing "nginx with WebDAV" web_dav
need_moto || missing "moto" conformance::s3_passes

# Folders of the servers, and a group of processes that ends as one, the stopped ones included.
STORAGE_MUX_SERVICES=$(mktemp -d)
export STORAGE_MUX_SERVICES
tests=
cleanup() {
    [[ -z $tests ]] || kill -KILL -- "-$tests" 2>/dev/null || true
    rm -rf "$STORAGE_MUX_SERVICES"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

set -m
run timeout --foreground --kill-after=10 300 cargo test --locked --manifest-path "$manifest" -- \
    --test-threads=2 "${left_out[@]}" &
tests=$!
set +m
wait "$tests"
