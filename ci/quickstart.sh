#!/usr/bin/env bash
# The command that the README shows first does what it says, and says so when it cannot.
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command="cargo run --release --example quickstart --features tokio,object-store"
grep -qxF "$command" README.md || fail "README.md must hold the line \"$command\""

output=$($command)
printf '%s\n' "$output"
last=$(tail -n 1 <<<"$output")
[[ $last =~ ^[1-9][0-9]*\ files,\ [1-9][0-9]*\ bytes,\ [1-9][0-9]*\ failovers,\ 0\ lost$ ]] ||
    fail "the last line was: $last"
grep -q "primary is back and missed [1-9]" <<<"$output" || fail "the primary must have missed files"

status=0
$command -- /no/such/folder || status=$?
[[ $status -eq 2 ]] || fail "a folder that cannot be read must end in exit code 2, not $status"
