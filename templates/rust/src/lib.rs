// SPDX-License-Identifier: 0BSD
//! The model '@prefix@' as aotc compiled it to C: what `model/@prefix@.h` declares, by the names that it
//! has there. Nothing is allocated, and there is no mutable global; two runs at a time need two arenas.
#![no_std]
#![allow(non_camel_case_types)]

use core::ffi::c_void;

@rust_interface@

/// Memory, stored inputs and self test: `app/@prefix@_app.h`. The program defines `@prefix@_port_write`,
/// `@prefix@_port_now` and `@prefix@_port_unit`, as `tests/self_test.rs` does.
#[cfg(feature = "app")]
pub mod app {
    use core::ffi::c_void;

    /// Number of stored inputs.
    pub const @macro_prefix@_SAMPLE_COUNT: u32 = @sample_count@;

    /// An input or output; real value = (element - zero_point) * scale.
    #[repr(C)]
    pub struct @prefix@_tensor {
        pub data: *mut c_void,
        pub elements: u32,
        pub bytes: u32,
        pub scale: f32,
        pub zero_point: i32,
        /// `i` signed, `u` unsigned, `f` float.
        pub kind: u8,
    }

    #[repr(C)]
    pub struct @prefix@_self_test_result {
        pub status: i32,
        pub layer: i32,
        pub layers: u32,
        pub exact: u32,
    }

    extern "C" {
        pub fn @prefix@_app_input(index: u32) -> @prefix@_tensor;
        pub fn @prefix@_app_output(index: u32) -> @prefix@_tensor;
        pub fn @prefix@_app_value(tensor: *const @prefix@_tensor, element: u32) -> f32;
        pub fn @prefix@_app_reset();
        pub fn @prefix@_app_run() -> i32;
        pub fn @prefix@_load_sample(index: u32);
        pub fn @prefix@_self_test(result: *mut @prefix@_self_test_result) -> i32;
        pub fn @prefix@_profile(times: *mut u64) -> i32;
        pub fn @prefix@_layer_name(layer: i32, text: *mut u8, size: u32);
        pub fn @prefix@_demo() -> i32;
    }
}
