use super::*;

const SAXPY: &str = r#"
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"#;

/// The compiler, or `None` where none is installed.
fn nvrtc(test: &str) -> Option<Nvrtc> {
    match Nvrtc::open(&[]) {
        Ok(nvrtc) => Some(nvrtc),
        Err(error) => {
            assert!(matches!(error, GpuError::Library { .. }), "{error}");
            println!("skipped {test}: {error}");
            None
        }
    }
}

fn request(source: &str, arch: Arch) -> Request<'_> {
    Request { source, name: "test.cu", arch, options: &[], name_expressions: &[], headers: &[] }
}

#[test]
fn a_real_architecture_gives_a_binary_and_a_virtual_one_ptx() {
    let Some(nvrtc) = nvrtc("binary and PTX") else { return };
    assert!(nvrtc.architectures().unwrap().contains(&90));
    let flags = ["-minimal".to_owned(), "-fmad=false".to_owned()];
    let cubin = nvrtc.compile(&Request { options: &flags, ..request(SAXPY, Arch::Sm(90)) }).unwrap();
    assert!(cubin.bytes.starts_with(b"\x7fELF"));
    let ptx = nvrtc.compile(&Request { options: &flags, ..request(SAXPY, Arch::Compute(80)) }).unwrap();
    let ptx = String::from_utf8(ptx.bytes).unwrap();
    assert!(ptx.contains(".target sm_80") && ptx.contains(".entry saxpy"), "{ptx}");
    assert!(!ptx.ends_with('\0') && !ptx.contains("fma."), "{ptx}");
}

#[test]
fn an_error_carries_the_compilers_log_and_the_text() {
    let Some(nvrtc) = nvrtc("compile errors") else { return };
    let wrong = SAXPY.replace("* x[i]", "* z[i]");
    let error = nvrtc.compile(&request(&wrong, Arch::Sm(90))).unwrap_err();
    let GpuError::Compile { log, source } = &error else { panic!("{error}") };
    assert!(log.contains("test.cu(4)") && log.contains("\"z\" is undefined"), "{log}");
    assert_eq!(source, &wrong);
    assert!(error.to_string().contains("does not compile"));
}

#[test]
fn an_unknown_option_or_architecture_is_an_error_value() {
    let Some(nvrtc) = nvrtc("bad options") else { return };
    let options = ["--no-such-option".to_owned()];
    let error = nvrtc.compile(&Request { options: &options, ..request(SAXPY, Arch::Sm(90)) }).unwrap_err();
    assert!(error.to_string().contains("no-such-option"), "{error}");
    let error = nvrtc.compile(&request(SAXPY, Arch::Sm(17))).unwrap_err();
    assert!(error.to_string().contains("architecture"), "{error}");
    assert!(matches!(nvrtc.compile(&request("a\0b", Arch::Sm(90))), Err(GpuError::Unsupported(_))));
}

#[test]
fn name_expressions_and_headers_are_found() {
    let Some(nvrtc) = nvrtc("name expressions") else { return };
    let source = "#include \"twice.cuh\"\ntemplate <class T> __global__ void f(T* x) { *x = twice(*x); }";
    let headers = [("twice.cuh".to_owned(), "template <class T> __device__ T twice(T x) { return x + x; }".to_owned())];
    let names = ["f<float>".to_owned(), "f<long long>".to_owned()];
    let image = nvrtc
        .compile(&Request { name_expressions: &names, headers: &headers, ..request(source, Arch::Compute(80)) })
        .unwrap();
    let text = String::from_utf8(image.bytes).unwrap();
    assert_eq!(image.lowered.len(), 2);
    assert_ne!(image.lowered[0], image.lowered[1]);
    for name in &image.lowered {
        assert!(text.contains(&format!(".entry {name}(")), "{name}\n{text}");
    }
}

#[test]
fn threads_compile_at_once_and_get_their_own() {
    let Some(nvrtc) = nvrtc("threads") else { return };
    let compile = |number: usize| {
        let name = format!("kernel_{number}");
        let image = nvrtc.compile(&request(&SAXPY.replace("saxpy", &name), Arch::Compute(80))).unwrap();
        assert!(String::from_utf8(image.bytes).unwrap().contains(&format!(".entry {name}(")));
    };
    std::thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || compile(number));
        }
    });
}

#[test]
fn options_follow_the_version() {
    let more = ["-minimal".to_owned(), "-fmad=false".to_owned()];
    assert_eq!(options(Arch::Sm(90), &more, (12, 0)), ["--gpu-architecture=sm_90", "-fmad=false"]);
    assert_eq!(options(Arch::Compute(80), &more, (13, 0))[1], "-minimal");
}

#[test]
fn the_ptx_on_the_way_to_a_binary_declares_the_parameters() {
    use crate::signature::{KernelParameter, ParameterKind, declarations, parameters};
    let Some(nvrtc) = nvrtc("declarations") else { return };
    let (image, ptx) = nvrtc.compile_with_ptx(&request(SAXPY, Arch::Sm(90))).unwrap();
    assert!(image.bytes.starts_with(b"\x7fELF"));
    let of = |kind, bytes| KernelParameter { kind, bytes };
    let (number, pointer) = (of(ParameterKind::Integer, 4), of(ParameterKind::Integer, 8));
    let want = vec![of(ParameterKind::Float, 4), pointer, pointer, number];
    assert_eq!(parameters(&declarations(&ptx), "saxpy"), Some(want));
}
