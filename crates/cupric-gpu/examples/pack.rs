//! Makes a pack of precompiled kernels: `pack --arch sm_90 --out sm_90.pack [--threads 2]`.
//!
//! NVRTC is looked for as always (`CUPRIC_NVRTC`, `CUPRIC_SITE_PACKAGES`); use the oldest one that knows the architecture, so
//! that old drivers load the pack too. A pack that was made from the same kernels is left as it is.

use cupric_codegen::pack_kernels;
use cupric_gpu::{Arch, Nvrtc, Pack, make_pack, pack_content};
use std::{error::Error, path::PathBuf, process::ExitCode, time::Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Wanted {
    arch: Arch,
    out: PathBuf,
    threads: usize,
}

fn main() -> ExitCode {
    match wanted().and_then(|wanted| make(&wanted)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn wanted() -> Outcome<Wanted> {
    const USAGE: &str = "usage: pack --arch sm_90 --out FILE [--threads N]";
    let (mut arch, mut out) = (None, None);
    let mut threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match option.as_str() {
            "--arch" => arch = Some(parse_arch(&value).ok_or("an architecture is written sm_90 or compute_80")?),
            "--out" => out = Some(PathBuf::from(value)),
            "--threads" => threads = value.parse()?,
            _ => return Err(USAGE.into()),
        }
    }
    Ok(Wanted { arch: arch.ok_or(USAGE)?, out: out.ok_or(USAGE)?, threads })
}

fn parse_arch(text: &str) -> Option<Arch> {
    let (kind, number) = text.split_once('_')?;
    let number = number.parse().ok()?;
    match kind {
        "sm" => Some(Arch::Sm(number)),
        "compute" => Some(Arch::Compute(number)),
        _ => None,
    }
}

fn make(wanted: &Wanted) -> Outcome<()> {
    let nvrtc = Nvrtc::open(&[])?;
    let (major, minor) = nvrtc.version();
    let kernels = pack_kernels();
    let content = pack_content(&kernels, wanted.arch, nvrtc.version());
    if Pack::content(&wanted.out) == Some(content) {
        println!("{} is up to date: {} kernels", wanted.out.display(), kernels.len());
        return Ok(());
    }
    println!("{} kernels by NVRTC {major}.{minor} ({})", kernels.len(), nvrtc.library().path().display());
    let start = Instant::now();
    let bytes = make_pack(&nvrtc, wanted.arch, &kernels, wanted.threads, |done, of| {
        if done % 10 == 0 || done == of {
            println!("{done} of {of} modules after {:.0} s", start.elapsed().as_secs_f64());
        }
    })?;
    // Complete or not at all.
    let unfinished = wanted.out.with_extension("unfinished");
    std::fs::write(&unfinished, &bytes)?;
    std::fs::rename(&unfinished, &wanted.out)?;
    println!("{}: {:.1} MB", wanted.out.display(), bytes.len() as f64 / 1e6);
    Ok(())
}
