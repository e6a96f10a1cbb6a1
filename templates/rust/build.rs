// SPDX-License-Identifier: 0BSD
//! Compiles the C of the model '@prefix@' with the compiler that the crate `cc` finds for the target.
//! Programs that depend on this crate directly find its header through DEP_@macro_prefix@_INCLUDE.
use std::{env, path::PathBuf};

/// Of the board that the C was made for.
const CPU_FLAGS: &str = "@cpu_flags@";

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let mut build = cc::Build::new();
    build
        .file("model/@prefix@.c")
        .file("model/@prefix@_data.c")
        .include("model")
        // A fused multiply-add rounds once where the reference rounds twice.
        .flag_if_supported("-std=c99")
        .flag_if_supported("-ffp-contract=off")
        .warnings(true);
    for flag in CPU_FLAGS.split_whitespace() {
        build.flag(flag);
    }
    // A build without optimisation is for looking at the Rust around it, not at the model.
    if env::var("OPT_LEVEL").map_or(false, |level| level == "0") {
        build.opt_level(2);
    }
    if env::var_os("CARGO_FEATURE_APP").is_some() {
        build
            .file("app/@prefix@_app_memory.c")
            .file("app/@prefix@_app_self_test.c")
            .file("app/@prefix@_app_demo.c")
            .include("app");
    }
    build.compile("@prefix@_model");
    if env::var("CARGO_CFG_TARGET_FAMILY").map_or(false, |family| family == "unix") {
        println!("cargo:rustc-link-lib=m");
    }
    println!("cargo:include={}", root.join("model").display());
    println!("cargo:rerun-if-changed=model");
    println!("cargo:rerun-if-changed=app");
}
