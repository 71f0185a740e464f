#!/usr/bin/env bash
# The library on microcontrollers, as QEMU emulates them: a device on embassy with a flash chip, a
# server and bad weather, the shared test body and the conformance suite on a Cortex-M3, and the
# core on a Cortex-M0, which has no compare-and-swap. A program that exits 0 has checked everything.
# shellcheck source=ci/board.sh
source "$(dirname "${BASH_SOURCE[0]}")/board.sh"

need_component rustfmt fmt
need_component clippy clippy
need_boards

(cd examples/firmware && run cargo fmt --check)
for name in device claims smallest tiny; do
    firmware_cargo clippy "$name" -- -D warnings
done
for name in device claims smallest tiny; do
    emulate "$name"
done

# The log of the device went out in frames of defmt. Their texts lie in the ELF, and take a reader.
reader=$(command -v defmt-print || true)
if [[ -z $reader ]]; then
    tools=$CARGO_TARGET_DIR/tools
    reader=$tools/bin/defmt-print
    [[ -x $reader ]] || run cargo install --quiet --locked --debug --root "$tools" \
        --target-dir "$tools/target" defmt-print@1.2.0 ||
        cannot "defmt-print cannot be had: the log of the device was NOT read"
fi
decoded=$("$reader" -e "$(elf device)" <"$CARGO_TARGET_DIR/device.log")
printf '%s\n' "$decoded"
for expected in \
    'BackendDown { name: "server", cause: "STORAGE_MUX.BACKEND_TIMEOUT"' \
    'FanoutPartial { mode: Shield, failed: \["server"\]' \
    'Failover { from: "flash", to: "ram"' \
    'STORAGE_MUX.ALL_BACKENDS_DOWN: no backend could serve the call' \
    'BackendRecovered { name: "server"' \
    'DrainCompleted { name: "server"' \
    'MuxStats { mode: Shield'; do
    grep -q -- "$expected" <<<"$decoded" || fail "the log of the device lacks: $expected"
done
printf 'the log of the device tells what happened\n'
