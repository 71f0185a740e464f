//! Hands the linker the memory of the board and the scripts that lay the program out.

use std::path::PathBuf;
use std::{env, fs};

/// What QEMU's boards have: `mps2-an385` for the Cortex-M3, `microbit` for the Cortex-M0.
const BOARDS: [(&str, &str); 2] = [
    (
        "thumbv7m",
        "MEMORY { FLASH : ORIGIN = 0, LENGTH = 768K\n RAM : ORIGIN = 0x20000000, LENGTH = 64K }",
    ),
    (
        "thumbv6m",
        "MEMORY { FLASH : ORIGIN = 0, LENGTH = 256K\n RAM : ORIGIN = 0x20000000, LENGTH = 16K }",
    ),
];

fn main() {
    let target = env::var("TARGET").unwrap_or_default();
    let Some((_, memory)) = BOARDS.iter().find(|(board, _)| target.starts_with(board)) else {
        println!("cargo::error=build with --target thumbv7m-none-eabi or thumbv6m-none-eabi");
        return;
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    if let Err(error) = fs::write(out.join("memory.x"), memory) {
        println!("cargo::error=memory.x cannot be written: {error}");
    }
    println!("cargo::rustc-link-search={}", out.display());
    for script in ["link.x", "defmt.x"] {
        println!("cargo::rustc-link-arg-bins=-T{script}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
