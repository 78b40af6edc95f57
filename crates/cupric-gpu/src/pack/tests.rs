use super::*;

const CONTENT: u128 = 0x1234_5678_9abc_def0_0fed_cba9_8765_4321;

fn image(number: usize) -> Vec<u8> {
    (0..20_000 + number).map(|at| (at / 7 * (number + 1)) as u8).collect()
}

fn key(module: usize, kernel: usize) -> u128 {
    u128::from(checksum(&[module as u8, kernel as u8])) << 64 | kernel as u128
}

/// Three modules of five kernels.
fn pack() -> Vec<u8> {
    let mut builder = PackBuilder::new(Arch::Sm(90));
    for module in 0..3 {
        let kernels = (0..5).map(|kernel| (key(module, kernel), format!("kernel_{module}_{kernel}")));
        assert_eq!(builder.add(&image(module), kernels), Ok(module));
    }
    builder.finish(CONTENT)
}

fn check(pack: &Pack) {
    assert_eq!((pack.arch(), pack.modules(), pack.kernels()), (Arch::Sm(90), 3, 15));
    for module in 0..3 {
        assert!(pack.module(module).unwrap() == image(module));
        for kernel in 0..5 {
            let name = format!("kernel_{module}_{kernel}");
            assert_eq!(pack.find(key(module, kernel)), Some(Entry { module, name: &name }));
        }
    }
    for absent in [0, u128::MAX, key(0, 0) + 1] {
        assert_eq!(pack.find(absent), None);
    }
    assert!(pack.module(3).unwrap_err().to_string().contains("3 modules"));
}

#[test]
fn kernels_are_found_in_memory_and_in_a_file() {
    let bytes = pack();
    assert!(bytes.len() < 30_000, "{} bytes are not compressed", bytes.len());
    check(&Pack::from_bytes(bytes.clone()).unwrap());
    let path = std::env::temp_dir().join(format!("cupric-pack-{}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    check(&Pack::open(&path).unwrap());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn the_same_kernels_give_the_same_bytes_and_an_empty_pack_works() {
    assert_eq!(pack(), pack());
    let empty = Pack::from_bytes(PackBuilder::new(Arch::Compute(80)).finish(1)).unwrap();
    assert_eq!((empty.arch(), empty.find(7)), (Arch::Compute(80), None));
}

#[test]
fn a_missing_pack_is_named() {
    let error = Pack::open(Path::new("no/such/pack")).unwrap_err().to_string();
    assert!(error.contains("no/such/pack"), "{error}");
}

#[test]
fn no_damage_goes_unnoticed() {
    let whole = pack();
    let reads = |bytes: Vec<u8>| {
        let pack = Pack::from_bytes(bytes)?;
        (0..3).try_for_each(|module| pack.module(module).map(drop))
    };
    assert_eq!(reads(whole.clone()), Ok(()));
    // Bytes 8 to 24 only say what the pack was made from.
    for at in (0..whole.len()).step_by(11).filter(|at| !(8..24).contains(at)) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        assert!(reads(damaged).is_err(), "byte {at}");
        assert!(reads(whole[..at].to_vec()).is_err(), "cut at {at}");
    }
}

#[test]
fn two_kernels_with_one_key_are_refused() {
    let mut builder = PackBuilder::new(Arch::Sm(80));
    let error = builder.add(b"", [(1, "a".to_owned()), (1, "b".to_owned())]).unwrap_err();
    assert!(error.to_string().contains("same key"), "{error}");
}
