// SPDX-License-Identifier: 0BSD
//! `cargo test --features app`: every layer of the model '@prefix@' gives what the reference gave.
use @prefix@_sys::app::*;
use std::io::Write;

#[no_mangle]
pub extern "C" fn @prefix@_port_write(text: *const u8, length: u32) {
    let bytes = unsafe { std::slice::from_raw_parts(text, length as usize) };
    let _ = std::io::stdout().write_all(bytes);
}

#[no_mangle]
pub extern "C" fn @prefix@_port_now() -> u64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}

#[no_mangle]
pub extern "C" fn @prefix@_port_unit() -> *const u8 {
    b"nanoseconds\0".as_ptr()
}

#[test]
fn every_layer() {
    let mut result = @prefix@_self_test_result { status: 0, layer: -1, layers: 0, exact: 0 };
    let failed = unsafe { @prefix@_self_test(&mut result) };
    assert_eq!(
        (failed, result.layer, result.status),
        (0, -1, 0),
        "layer {} of {} differs",
        result.layer,
        result.layers
    );
    assert_eq!(unsafe { @prefix@_demo() }, 0);
}
