# The emulated microcontrollers; sourced by firmware.sh and sizes.sh, never run.
# shellcheck shell=bash
# shellcheck source=ci/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# One folder for what is built, so that the two scripts build it once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}

# Ends a script whose check this machine cannot make: badly where it must be made, loudly elsewhere.
cannot() {
    [[ ${CI:-} != true ]] || fail "$*"
    loud "$*"
    exit 0
}

need_boards() {
    local target
    for target in thumbv7m-none-eabi thumbv6m-none-eabi; do
        rustup target list --installed | grep -qx "$target" || run rustup target add "$target" ||
            cannot "the target $target cannot be had: NO firmware was built"
    done
    command -v qemu-system-arm >/dev/null && return
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        run apt-get update -qq || true
        run env DEBIAN_FRONTEND=noninteractive \
            apt-get install -qq --no-install-recommends qemu-system-arm >/dev/null || true
    fi
    command -v qemu-system-arm >/dev/null ||
        cannot "qemu-system-arm is not installed and cannot be had: NO firmware was run"
}

# Where the program of a name lies, once it is built.
elf() {
    printf '%s/%s/release/%s' "$CARGO_TARGET_DIR" "$(target_of "$1")" "$1"
}

target_of() {
    if [[ $1 == tiny ]]; then echo thumbv6m-none-eabi; else echo thumbv7m-none-eabi; fi
}

# Runs cargo on a program of the firmware. In its folder, since its settings lie there.
firmware_cargo() {
    local command=$1 name=$2
    shift 2
    (cd examples/firmware && run cargo "$command" --locked --release \
        --target "$(target_of "$name")" --bin "$name" "$@")
}

# Runs a program in the emulator. Its text goes to NAME.txt, its log, in frames, to NAME.log.
emulate() {
    local name=$1 status=0
    local text=$CARGO_TARGET_DIR/$name.txt log=$CARGO_TARGET_DIR/$name.log
    firmware_cargo build "$name"
    # Idle time is skipped, so a run takes seconds; one that hangs must not go on for ever.
    (cd examples/firmware && timeout 120 cargo run --quiet --locked --release \
        --target "$(target_of "$name")" --bin "$name") >"$log" 2>"$text" || status=$?
    cat "$text"
    [[ $status != 124 ]] || fail "the firmware $name hangs"
    [[ $status == 0 ]] || fail "the firmware $name has failed"
}
