use super::*;

static ABSENT: Spec = Spec {
    name: "the absent library",
    variable: "CUPRIC_TEST_ABSENT",
    sonames: &[Soname::new("libcupric_absent.so.13", 13), Soname::new("libcupric_absent.so.12", 12)],
    companions: &["libcupric_absent_helper.so"],
    help: "Install it with pip.",
};

static MATHS: Spec = Spec {
    name: "the maths library",
    variable: "CUPRIC_TEST_MATHS",
    sonames: &[Soname::new("libm.so.6", 0)],
    companions: &[],
    help: "It comes with the system.",
};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cupric-library-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn any_library() -> PathBuf {
    mapped_files().into_iter().find(|path| file_name(path).starts_with("libgcc_s")).unwrap()
}

#[test]
fn a_missing_library_tells_each_place_and_the_remedy() {
    let error = Library::open(&ABSENT, &[], None).unwrap_err().to_string();
    for part in
        ["the absent library was not found", "libcupric_absent.so.13", "pip wheels", "conda", "CUDA_PATH", "pip."]
    {
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
    assert!(error.contains("set CUPRIC_TEST_ABSENT"), "{error}");
}

#[test]
fn a_loaded_library_is_found_with_its_path() {
    let library = Library::open(&MATHS, &[], None).unwrap();
    assert!([Place::Loaded, Place::System].contains(&library.place()));
    assert!(library.path().is_absolute(), "{}", library.path().display());
    // SAFETY: this is the C library's signature of `cos`.
    let cos: extern "C" fn(f64) -> f64 = unsafe { library.function("cos") }.unwrap();
    assert_eq!(cos(0.0), 1.0);
    // SAFETY: there is no such function, so nothing is called.
    let missing = unsafe { library.function::<extern "C" fn()>("cupric_no_such_function") }.unwrap_err();
    assert!(missing.to_string().contains("cupric_no_such_function"), "{missing}");
}

#[test]
fn wheels_are_searched_newest_first_up_to_the_limit() {
    let site = folder("wheels");
    for (wheel, file) in [("cupric_x", "libcupric_absent.so.12"), ("cu13", "libcupric_absent.so.13")] {
        let lib = site.join("nvidia").join(wheel).join("lib");
        fs::create_dir_all(&lib).unwrap();
        fs::copy(any_library(), lib.join(file)).unwrap();
    }
    let mut hunt = Hunt::new(&ABSENT, Some(12));
    let folders = pip_folders(std::slice::from_ref(&site), &|_| None);
    assert_eq!(folders.len(), 2);
    let older = hunt.folders(Place::Pip, "pip", &folders).unwrap();
    assert!(older.path().ends_with("nvidia/cupric_x/lib/libcupric_absent.so.12"), "{}", older.path().display());
    let newer = Hunt::new(&ABSENT, None).folders(Place::Pip, "pip", &folders).unwrap();
    assert!(newer.path().ends_with("nvidia/cu13/lib/libcupric_absent.so.13"), "{}", newer.path().display());
    let named = Library::open_at(&ABSENT, &site.join("nvidia/cu13/lib")).unwrap();
    assert_eq!(named.place(), Place::Variable);
    fs::remove_dir_all(site).unwrap();
}

#[test]
fn a_damaged_file_is_named_in_the_error() {
    let folder = folder("damaged");
    let path = folder.join("libcupric_absent.so.13");
    fs::write(&path, b"not a library").unwrap();
    let error = Library::open_at(&ABSENT, &path).unwrap_err().to_string();
    assert!(error.contains("could not be opened") && error.contains("CUPRIC_TEST_ABSENT ="), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn folders_follow_the_variables() {
    let root = folder("roots");
    for lib in ["conda/lib", "toolkit/lib64", "site/nvidia/cublas/lib"] {
        fs::create_dir_all(root.join(lib)).unwrap();
    }
    let variables = |name: &str| match name {
        "CONDA_PREFIX" => Some(root.join("conda").into_os_string()),
        "CUDA_HOME" => Some(root.join("toolkit").into_os_string()),
        SITE_PACKAGES => Some(root.join("site").into_os_string()),
        _ => None,
    };
    assert_eq!(conda_folders(&variables), [root.join("conda/lib")]);
    assert_eq!(toolkit_folders(&variables), [root.join("toolkit/lib64")]);
    assert_eq!(pip_folders(&[], &variables), [root.join("site/nvidia/cublas/lib")]);
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn renamed_and_fuller_versions_match_a_soname_and_relatives_do_not() {
    let matches = |file: &str| is_version_of(OsStr::new(file), "libnvrtc.so.12");
    for file in ["libnvrtc.so.12", "libnvrtc.so.12.9.86", "libnvrtc-b51b459d.so.12"] {
        assert!(matches(file), "{file}");
    }
    for file in ["libnvrtc-builtins.so.12.9", "libnvrtc.so.13", "libnvrtc.so.120", "libnvrtc.alt.so.12", "libnvrtc"] {
        assert!(!matches(file), "{file}");
    }
}
