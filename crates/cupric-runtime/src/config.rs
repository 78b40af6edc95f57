//! Settings, read once from the environment.

use crate::DeviceKind;
use std::sync::LazyLock;

/// Which device arrays are made on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceChoice {
    /// A GPU where there is one, else the host.
    Auto,
    /// This one.
    Named(DeviceKind, usize),
}

/// When operations run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Running {
    /// When somebody looks, and in the background.
    Deferred,
    /// Each at its call.
    Eager,
    /// As deferred, and so is work that is done sooner than queued: for tests of the queue.
    Queued,
}

/// The settings that concern every device; what belongs to one kind of device is read there.
#[derive(Clone, Debug)]
pub struct Config {
    /// `CUPRIC_DEVICE`: `cpu`, `cuda`, `cuda:N` or `sim`.
    pub device: DeviceChoice,
    /// `CUPRIC_EAGER`: whether each operation runs at its call.
    pub running: Running,
    /// `CUPRIC_NUM_THREADS`: threads of the CPU device; all cores if it is not set.
    pub threads: Option<usize>,
    /// `CUPRIC_DEBUG`: whether a failure tells the line of the program that asked for the operation.
    pub debug: bool,
    /// `CUPRIC_LOG`: whether the making of kernels is reported on standard error.
    pub log: bool,
    /// What is wrong with a setting; told when a device is asked for.
    pub mistake: Option<String>,
}

impl Config {
    /// The settings of this process.
    #[must_use]
    pub fn get() -> &'static Config {
        static CONFIG: LazyLock<Config> = LazyLock::new(|| Config::read(|name| std::env::var(name).ok()));
        &CONFIG
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Config {
        let set = |name: &str| variable(name).is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
        let mut mistake = None;
        let mut refuse = |name: &str, text: &str, expected: &str| {
            mistake = Some(format!("{name} is {text:?}; it must be {expected}"));
        };
        let given = |name: &str| variable(name).filter(|text| !text.is_empty());
        let device = given("CUPRIC_DEVICE").map(|text| {
            parse_device(&text).unwrap_or_else(|| {
                refuse("CUPRIC_DEVICE", &text, "cpu, cuda, cuda:N or sim");
                DeviceChoice::Auto
            })
        });
        let threads = given("CUPRIC_NUM_THREADS").and_then(|text| {
            let number = text.parse().ok().filter(|&threads: &usize| threads > 0);
            if number.is_none() {
                refuse("CUPRIC_NUM_THREADS", &text, "a number of threads, 1 or more");
            }
            number
        });
        Config {
            device: device.unwrap_or(DeviceChoice::Auto),
            running: if set("CUPRIC_EAGER") { Running::Eager } else { Running::Deferred },
            threads,
            debug: set("CUPRIC_DEBUG"),
            log: set("CUPRIC_LOG"),
            mistake,
        }
    }
}

/// Reads `cpu`, `cuda`, `cuda:1`, `sim`.
#[must_use]
pub fn parse_device(text: &str) -> Option<DeviceChoice> {
    let (kind, ordinal) = text.split_once(':').unwrap_or((text, "0"));
    let ordinal = ordinal.parse().ok()?;
    match kind {
        "cpu" => Some(DeviceChoice::Named(DeviceKind::Cpu, ordinal)),
        "cuda" => Some(DeviceChoice::Named(DeviceKind::Cuda, ordinal)),
        "sim" => Some(DeviceChoice::Named(DeviceKind::Sim, ordinal)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_follow_the_environment() {
        let config = Config::read(|name| match name {
            "CUPRIC_DEVICE" => Some("cuda:2".into()),
            "CUPRIC_EAGER" => Some("1".into()),
            "CUPRIC_NUM_THREADS" => Some("3".into()),
            _ => None,
        });
        assert_eq!(config.device, DeviceChoice::Named(DeviceKind::Cuda, 2));
        assert_eq!((config.running, config.threads), (Running::Eager, Some(3)));
        assert_eq!(Config::read(|_| Some("0".into())).running, Running::Deferred);
        assert_eq!(parse_device("tpu"), None);
    }

    #[test]
    fn a_setting_that_is_wrong_is_told() {
        let wrong = |name: &'static str, text: &'static str| {
            Config::read(|asked| (asked == name).then(|| text.to_owned())).mistake
        };
        let told = wrong("CUPRIC_DEVICE", "gpu0").expect("there is no such device");
        assert_eq!(told, "CUPRIC_DEVICE is \"gpu0\"; it must be cpu, cuda, cuda:N or sim");
        assert!(wrong("CUPRIC_NUM_THREADS", "many").is_some() && wrong("CUPRIC_NUM_THREADS", "0").is_some());
        assert_eq!((wrong("CUPRIC_DEVICE", ""), wrong("CUPRIC_NUM_THREADS", "2")), (None, None));
    }
}
