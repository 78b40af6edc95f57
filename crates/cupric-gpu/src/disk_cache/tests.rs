use super::*;
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cupric-disk-cache-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn cache(folder: &Path) -> DiskCache {
    DiskCache::new(Some(folder.to_owned()), DiskCache::DEFAULT_LIMIT)
}

/// What every writer keeps under a key, so that a reader can tell a whole entry.
fn image(number: usize) -> (String, Vec<u8>) {
    (format!("{number:032x}"), (0..5000 + 777 * number).map(|at| (at * 31 + number) as u8).collect())
}

fn hammer(cache: &DiskCache) {
    for round in 0..40 {
        let (key, bytes) = image(round % 8);
        assert!(cache.put(&key, &bytes));
        for number in 0..8 {
            let (key, bytes) = image(number);
            if let Some(found) = cache.get(&key) {
                assert!(found == bytes, "entry {number} is torn");
            }
        }
    }
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn what_is_put_is_found_by_another_process_too() {
    let folder = folder("plain");
    assert_eq!(cache(&folder).get("abc"), None);
    assert!(cache(&folder).put("abc", b"image") && cache(&folder).put("def", b""));
    assert_eq!(cache(&folder).get("abc").unwrap(), b"image");
    assert_eq!(cache(&folder).get("def").unwrap(), b"");
    assert!(cache(&folder).put("abc", b"newer"));
    assert_eq!(cache(&folder).get("abc").unwrap(), b"newer");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn sixteen_threads_write_the_same_keys() {
    let folder = folder("threads");
    let cache = cache(&folder);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| hammer(&cache));
        }
    });
    assert_eq!(files(&folder), 8);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn eight_processes_write_the_same_keys() {
    const VARIABLE: &str = "CUPRIC_TEST_SHARED_CACHE";
    if let Some(folder) = std::env::var_os(VARIABLE) {
        return hammer(&cache(Path::new(&folder)));
    }
    let folder = folder("processes");
    let this = "disk_cache::tests::eight_processes_write_the_same_keys";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", this]).env(VARIABLE, &folder).stdout(std::process::Stdio::null());
    let children: Vec<_> = (0..8).map(|_| command.spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(files(&folder), 8);
    let (key, bytes) = image(3);
    assert!(cache(&folder).get(&key).unwrap() == bytes);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_damaged_entry_is_dropped() {
    let folder = folder("damage");
    let cache = cache(&folder);
    let path = folder.join("abc.bin");
    assert!(cache.put("abc", b"a kernel"));
    let whole = fs::read(&path).unwrap();
    let flipped = {
        let mut bytes = whole.clone();
        bytes[HEADER + 2] ^= 1;
        bytes
    };
    for damaged in [&whole[..whole.len() - 1], &whole[..5], &[whole.as_slice(), b"x"].concat(), &flipped, b""] {
        fs::write(&path, damaged).unwrap();
        assert_eq!(cache.get("abc"), None);
        assert!(!path.exists());
    }
    assert!(cache.put("abc", b"a kernel"));
    assert_eq!(cache.get("abc").unwrap(), b"a kernel");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_oldest_entries_go_when_the_folder_is_full() {
    let folder = folder("limit");
    let cache = DiskCache::new(Some(folder.clone()), 10_000);
    for number in 0..20_u64 {
        let key = format!("{number:x}");
        assert!(cache.put(&key, &[7; 976]));
        let entry = fs::File::options().write(true).open(folder.join(&key).with_extension(ENTRY)).unwrap();
        entry.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(number)).unwrap();
        let total: u64 = cache.entries().iter().map(|entry| entry.bytes).sum();
        assert!(total <= 10_000, "{total} bytes after {number}");
    }
    assert_eq!(cache.get("0"), None);
    assert!(cache.get("13").is_some() && cache.get("12").is_some());
    assert!(!cache.put("aa", &[0; 10_000]), "larger than the limit");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn unfinished_entries_of_dead_processes_are_swept() {
    let folder = folder("sweep");
    fs::create_dir_all(&folder).unwrap();
    let (old, new) = (folder.join("a-1-0-0.tmp"), folder.join("b-2-0-0.tmp"));
    let dead = fs::File::create(&old).unwrap();
    dead.set_modified(SystemTime::now() - ABANDONED * 2).unwrap();
    fs::write(&new, b"").unwrap();
    assert!(cache(&folder).put("c", b"image"));
    assert!(!old.exists() && new.exists());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_that_cannot_be_used_is_quiet() {
    let folder = folder("blocked");
    fs::create_dir_all(&folder).unwrap();
    // A file stands where the folder should be: that fails for every user, root included.
    let blocked = folder.join("file");
    fs::write(&blocked, b"").unwrap();
    for cache in [cache(&blocked), cache(&blocked.join("below")), DiskCache::new(None, 1 << 20)] {
        assert!(!cache.put("abc", b"image"));
        assert_eq!(cache.get("abc"), None);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn keys_that_are_not_hexadecimal_are_refused() {
    let folder = folder("keys");
    let cache = cache(&folder);
    for key in ["", "../abc", "abc/def", "xyz", &"a".repeat(129)] {
        assert!(!cache.put(key, b"image") && cache.get(key).is_none(), "{key:?}");
    }
    assert!(!folder.exists());
}

#[test]
fn the_folder_follows_the_variables() {
    let folder = |set: &[(&str, &str)]| {
        folder_by(&|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value)))
    };
    let home = ("HOME", "/home/me");
    assert_eq!(folder(&[("CUPRIC_CACHE_DIR", "/c"), ("XDG_CACHE_HOME", "/x"), home]), Some("/c".into()));
    assert_eq!(folder(&[("XDG_CACHE_HOME", "/x"), home]), Some("/x/cupric".into()));
    assert_eq!(folder(&[("CUPRIC_CACHE_DIR", ""), home]), Some("/home/me/.cache/cupric".into()));
    assert_eq!(folder(&[]), None);
}
