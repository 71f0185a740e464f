#!/usr/bin/env bash
# What a mux takes on a microcontroller has not grown by more than a tenth over ci/sizes.txt, and
# the README says what stands there. `ci/sizes.sh --write` puts the present sizes into both.
# shellcheck source=ci/board.sh
source "$(dirname "${BASH_SOURCE[0]}")/board.sh"

known=ci/sizes.txt

# Flash and RAM that the sections of a program take.
sections() {
    local name=$1 flash=0 ram=0 section type size flags
    while read -r section type size flags; do
        [[ $flags == *A* ]] || continue
        size=$((16#$size))
        # What is initialised lies in flash and is copied to RAM.
        [[ $type == NOBITS ]] || flash=$((flash + size))
        [[ $flags != *W* ]] || ram=$((ram + size))
    done < <(readelf -SW "$(elf "$name")" |
        sed -nE 's/^ *\[ *[0-9]+\] (\.[^ ]+) +([A-Z_]+) +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Z]*) .*/\1 \2 \3 \4/p')
    [[ $flash -gt 1000 && $ram -gt 0 ]] || fail "the sections of $name could not be read"
    printf '%s flash: %d\n%s ram: %d\n' "$name" "$flash" "$name" "$ram"
}

# All sizes, one a line: what, a colon, bytes.
measure() {
    local name
    for name in smallest device tiny; do
        sections "$name"
        sed -n "s/^size /$name /p" "$CARGO_TARGET_DIR/$name.txt"
    done
}

value() {
    sed -n "s/^$1: //p" <<<"$sizes"
}

row() {
    printf '| %s | %s | %s | %s | %s |\n' "$2" "$(value "$1 flash")" "$(value "$1 ram")" \
        "$(value "$1 heap peak")" "$(value "$1 stack peak")"
}

# What the README says of the sizes of a file.
table() {
    sizes=$(<"$1")
    printf '| bytes of | flash | static RAM | heap, at most | stack, at most |\n|---|---|---|---|---|\n'
    row smallest '`smallest`, Cortex-M3: a `set` and a `get` on a mux of two'
    row device '`device`, Cortex-M3: the firmware above, with its checks and the texts of its log'
    row tiny '`tiny`, Cortex-M0: five modes, retries and the breaker, with their checks'
    printf '\nA mux of one backend takes %s bytes of heap and each further backend %s, of which the sample\n' \
        "$(value 'device mux of one backend')" "$(value 'device each further backend')"
    printf 'of latencies is 1024. The future of a `get` over `LocalHandle` is %s bytes.\n' \
        "$(value 'device get future')"
}

# The README with the table between its marks replaced by the one in the file $1.
readme_with() {
    awk -v table="$1" '
        /<!-- sizes:end -->/ { inside = 0 }
        !inside { print }
        /<!-- sizes:begin -->/ { inside = 1; while ((getline line < table) > 0) print line }
    ' README.md
}

need_boards
command -v readelf >/dev/null || cannot "readelf is not installed: the sizes were NOT measured"
for name in smallest device tiny; do
    emulate "$name" >/dev/null
done
now=$CARGO_TARGET_DIR/sizes.txt
measure >"$now"
[[ ${1:-} != --write ]] || cp "$now" "$known"

grown=0
while IFS=: read -r what before; do
    after=$(sed -n "s/^$what: //p" "$now")
    [[ -n $after ]] || fail "$what was not measured"
    printf '%-28s %7d, was %7d\n' "$what" "$after" "$before"
    if [[ $((after * 10)) -gt $((before * 11)) ]]; then
        printf 'error: %s has grown by more than a tenth\n' "$what" >&2
        grown=1
    fi
done <"$known"
[[ $(wc -l <"$now") == "$(wc -l <"$known")" ]] || fail "$known does not list what is measured"
[[ $grown == 0 ]] || fail "make it smaller, or accept the sizes with ci/sizes.sh --write"

table "$known" >"$CARGO_TARGET_DIR/sizes.md"
readme_with "$CARGO_TARGET_DIR/sizes.md" >"$CARGO_TARGET_DIR/README.md"
[[ ${1:-} != --write ]] || cp "$CARGO_TARGET_DIR/README.md" README.md
diff -u README.md "$CARGO_TARGET_DIR/README.md" ||
    fail "README.md does not say what $known says: run ci/sizes.sh --write"
printf 'README.md says what %s says\n' "$known"
