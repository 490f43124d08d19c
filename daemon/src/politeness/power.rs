//! Whether the machine runs on battery, by what Linux says in `/sys/class/power_supply` (`sysfs-class-power(7)`). Where the
//! system says nothing of the kind, it is thought to be plugged in.

use std::path::{Path, PathBuf};

const SUPPLIES: &str = "/sys/class/power_supply";

/// The machine's power supplies.
#[derive(Debug, Clone)]
pub(super) struct PowerSupply {
    folder: PathBuf,
}

impl PowerSupply {
    pub(super) fn of_this_machine() -> Self {
        Self::in_folder(Path::new(SUPPLIES))
    }

    pub(super) fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Whether a battery of the machine is being emptied and nothing feeds it. Takes some tens of microseconds.
    pub(super) fn on_battery(&self) -> bool {
        let supplies: Vec<PathBuf> = fs_err::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        let says = |supply: &Path, name: &str, value: &str| {
            fs_err::read_to_string(supply.join(name)).is_ok_and(|text| text.trim() == value)
        };
        let fed = supplies
            .iter()
            .any(|supply| !says(supply, "type", "Battery") && says(supply, "online", "1"));
        // A mouse or a headset has a battery, too.
        let emptied = supplies.iter().any(|supply| {
            says(supply, "type", "Battery") && says(supply, "status", "Discharging") && !says(supply, "scope", "Device")
        });
        emptied && !fed
    }
}

/// Writes what the system would say of a supply.
#[cfg(test)]
pub(super) fn put(folder: &Path, supply: &str, says: &[(&str, &str)]) {
    let supply = folder.join(supply);
    fs_err::create_dir_all(&supply).unwrap();
    for (name, value) in says {
        fs_err::write(supply.join(name), format!("{value}\n")).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const EMPTIED: &[(&str, &str)] = &[("type", "Battery"), ("status", "Discharging")];
    const FULL: &[(&str, &str)] = &[("type", "Battery"), ("status", "Full")];
    const MOUSE: &[(&str, &str)] = &[("type", "Battery"), ("status", "Discharging"), ("scope", "Device")];
    const PLUGGED: &[(&str, &str)] = &[("type", "Mains"), ("online", "1")];
    const UNPLUGGED: &[(&str, &str)] = &[("type", "Mains"), ("online", "0")];

    #[rstest]
    #[case::no_supplies(&[], false)]
    #[case::unplugged(&[EMPTIED, UNPLUGGED], true)]
    #[case::a_weak_charger(&[EMPTIED, PLUGGED], false)]
    #[case::plugged_in(&[FULL, PLUGGED], false)]
    #[case::a_mouse(&[MOUSE], false)]
    #[case::two_batteries(&[FULL, EMPTIED], true)]
    fn on_battery(#[case] supplies: &[&[(&str, &str)]], #[case] expected: bool) {
        let folder = tempfile::tempdir().unwrap();
        for (number, supply) in supplies.iter().enumerate() {
            put(folder.path(), &format!("supply{number}"), supply);
        }
        assert_eq!(PowerSupply::in_folder(folder.path()).on_battery(), expected);
    }

    #[test]
    fn a_system_that_says_nothing_is_plugged_in() {
        assert!(!PowerSupply::in_folder(Path::new("/nowhere")).on_battery());
    }
}
