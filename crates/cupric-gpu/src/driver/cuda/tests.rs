use super::*;
use std::{fs, path::Path, process::Command};

/// A driver that only starts, or does not: `version` and the statuses are what it answers.
fn fake_driver(name: &str, version: i32, init: i32, count: i32) -> Result<CudaDriver> {
    let folder = std::env::temp_dir().join(format!("cupric-fake-driver-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let source = format!(
        r#"
        #[unsafe(no_mangle)] pub extern "C" fn cuInit(_: u32) -> i32 {{ {init} }}
        #[unsafe(no_mangle)] pub extern "C" fn cuDriverGetVersion(to: &mut i32) -> i32 {{ *to = {version}; 0 }}
        #[unsafe(no_mangle)] pub extern "C" fn cuDeviceGetCount(to: &mut i32) -> i32 {{ *to = {count}; 0 }}
        #[unsafe(no_mangle)] pub extern "C" fn cuGetErrorName(_: i32, to: &mut *const u8) -> i32 {{
            *to = c"CUDA_ERROR_FAKE".as_ptr().cast(); 0
        }}
        #[unsafe(no_mangle)] pub extern "C" fn cuGetErrorString(_: i32, _: &mut *const u8) -> i32 {{ 1 }}
        "#
    );
    fs::write(folder.join("fake.rs"), source).unwrap();
    let library = folder.join("libcupric_fake_cuda.so");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-o"]).arg(&library);
    assert!(command.arg(folder.join("fake.rs")).status().unwrap().success());
    let driver = open_and_start(&library);
    fs::remove_dir_all(folder).unwrap();
    driver
}

fn open_and_start(path: &Path) -> Result<CudaDriver> {
    CudaDriver::start(Library::open_at(&LIBCUDA, path)?)
}

fn refusal(driver: Result<CudaDriver>) -> String {
    driver.err().unwrap().to_string()
}

#[test]
fn a_driver_that_is_too_old_says_what_is_needed() {
    let error = refusal(fake_driver("old", 11_040, 0, 1));
    assert!(error.contains("CUDA 11.4") && error.contains("driver 525"), "{error}");
}

#[test]
fn no_device_is_an_error_with_a_remedy() {
    let error = refusal(fake_driver("none", 13_000, 100, 0));
    assert!(error.contains("cuInit") && error.contains("CUDA_ERROR_FAKE"), "{error}");
    assert!(error.contains("CUDA_VISIBLE_DEVICES"), "{error}");
}

#[test]
fn a_driver_without_a_function_names_it() {
    let error = refusal(fake_driver("short", 13_000, 0, 1));
    assert!(error.contains("no function cuDeviceGet:"), "{error}");
}

#[test]
fn a_missing_driver_is_an_error_value() {
    let error = refusal(open_and_start(Path::new("/nonexistent/libcuda.so.1")));
    assert!(error.contains("driver") && error.contains("CUPRIC_CUDA_DRIVER"), "{error}");
}

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(code: i32) -> !;
}

#[test]
fn a_forked_child_is_told_to_spawn_and_its_parent_goes_on() {
    watch_forks();
    // SAFETY: the child only loads an atomic and leaves.
    let child = unsafe { fork() };
    if child == 0 {
        let code = if FORKED.load(Ordering::Relaxed) { 7 } else { 1 };
        // SAFETY: ends the child at once, running no handlers.
        unsafe { _exit(code) };
    }
    let mut status = 0;
    // SAFETY: `status` is a live local, and `child` is a child of this process.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status >> 8, 7);
    assert_eq!(not_forked(), Ok(()));
    assert!(FORKED_MESSAGE.contains("forked; use multiprocessing's 'spawn'"));
}

#[test]
fn the_loaders_log_joins_the_message() {
    let mut log = JitLog::new();
    let text = b"ptxas fatal: no\n";
    log.text[..text.len()].copy_from_slice(text);
    let error =
        GpuError::Driver { call: "cuModuleLoadDataEx", code: 218, name: String::new(), message: "bad PTX".to_owned() };
    assert!(log.added_to(error).to_string().contains("bad PTX\nptxas fatal: no"));
}
