#!/usr/bin/env bash
# Over a real S3 server, a process of its own on loopback: many callers through a mux beside the
# bare client, and a gibibyte streamed through a shield with the memory that it takes. Run by hand,
# on a quiet machine with 4 GB of disk to spare; `--write` puts the table into the README.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# How long each case of the callers is measured. Less says less of the 99th percentile.
seconds=${SECONDS_EACH:-120}

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
run cargo build --quiet --locked --release --manifest-path tests/services/Cargo.toml --bin s3-server
run cargo build --quiet --locked --release --manifest-path benches/Cargo.toml \
    --no-default-features --features s3 --bin s3

folder=$(mktemp -d)
server=
cleanup() {
    [[ -z $server ]] || kill -KILL "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

answers() {
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}

# Starts the server on a port that nobody has, and waits until it answers.
start() {
    local tries
    for port in $(shuf -i 20000-32000 -n 5); do
        ! answers || continue
        "$CARGO_TARGET_DIR/release/s3-server" "$port" "$folder/s3" &
        server=$!
        # Or the shell tells of its end.
        disown "$server"
        for ((tries = 0; tries < 100; tries++)); do
            # Another process on that port would answer too.
            kill -0 "$server" 2>/dev/null || break
            ! answers || return 0
            sleep 0.1
        done
        kill -KILL "$server" 2>/dev/null || true
        server=
    done
    fail "the S3 server does not start"
}

mkdir -p "$folder/s3/bucket" "$folder/mirror"
start

table=$CARGO_TARGET_DIR/bench_s3.md
measure=$CARGO_TARGET_DIR/release/s3
{
    printf '| ours | | beside | | ratio | target | |\n|---|---|---|---|---|---|---|\n'
    "$measure" callers "$port" "$seconds"
    "$measure" copy "$port" "$folder/mirror"
} | tee "$table"
finish_table "$table" s3bench "${1:-}"
