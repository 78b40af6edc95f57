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
    /// `CUPRIC_LOG`: whether the making of kernels is reported on standard error.
    pub log: bool,
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
        Config {
            device: variable("CUPRIC_DEVICE").and_then(|text| parse_device(&text)).unwrap_or(DeviceChoice::Auto),
            running: if set("CUPRIC_EAGER") { Running::Eager } else { Running::Deferred },
            threads: variable("CUPRIC_NUM_THREADS").and_then(|text| text.parse().ok()),
            log: set("CUPRIC_LOG"),
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
}
