//! Which errors are injected: those that the manual pages give for a call, for each kind of call and file that a recording saw.

use rustix::io::Errno;

use super::control::Rule;
use super::page::{Call, Class};

/// The errors that a call may plausibly end with.
pub fn errors_of(call: Call, class: Class) -> &'static [Errno] {
    match (call, class) {
        (Call::Open, Class::Transcript | Class::Settings) | (Call::ReadFolder, _) => &[Errno::IO, Errno::ACCESS, Errno::MFILE],
        (Call::Open, _) => &[Errno::IO, Errno::ACCESS, Errno::MFILE, Errno::NOSPC, Errno::ROFS],
        (Call::Read, _) => &[Errno::IO, Errno::INTR],
        (Call::Write, Class::Socket) => &[Errno::IO],
        (Call::Write, _) => &[Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::INTR],
        (Call::Sync, _) => &[Errno::IO, Errno::NOSPC],
        (Call::Truncate, _) => &[Errno::IO, Errno::NOSPC, Errno::ROFS],
        (Call::Rename | Call::Mkdir, _) => &[Errno::IO, Errno::NOSPC, Errno::ACCESS, Errno::ROFS],
        (Call::Unlink, _) => &[Errno::IO, Errno::ACCESS, Errno::ROFS],
        (Call::Chmod, _) => &[Errno::IO, Errno::PERM, Errno::ROFS],
        (Call::Stat, _) => &[Errno::IO, Errno::ACCESS],
        (Call::Lock, _) => &[Errno::AGAIN, Errno::NOLCK, Errno::IO, Errno::INTR],
        (Call::Map, _) => &[Errno::NOMEM, Errno::IO],
        (Call::Accept, _) => &[Errno::MFILE, Errno::CONNABORTED],
        (Call::Socket | Call::WatchInit, _) => &[Errno::MFILE],
        (Call::Bind | Call::Listen, _) => &[Errno::ACCESS, Errno::NOSPC],
        (Call::WatchAdd, _) => &[Errno::NOSPC, Errno::ACCESS],
    }
}

/// A plan: the rules of a sweep, one a run.
#[derive(Debug, Default)]
pub struct Plan(pub Vec<Rule>);

impl Plan {
    /// Of each call that was recorded: each error at its first and its middle call once, and from the first on for ever; half
    /// writes likewise.
    ///
    /// Never for ever: an interruption, after which every program tries again, as often as it takes; and what is no file of
    /// ours, such as the libraries of the system.
    pub fn of(recorded: &[(Call, Class, u64)]) -> Self {
        let mut rules = Vec::new();
        for (call, class, count) in recorded {
            if *class == Class::Other && !matches!(call, Call::WatchInit | Call::WatchAdd) {
                continue;
            }
            let mut nths = vec![1, 2, count.div_ceil(2)];
            nths.retain(|nth| nth <= count);
            nths.sort_unstable();
            nths.dedup();
            for error in errors_of(*call, *class) {
                let rule = Rule::fail(*call, *class, *error);
                rules.extend(nths.iter().map(|nth| rule.only(*nth)));
                if *error != Errno::INTR {
                    rules.push(rule);
                }
            }
            if *call == Call::Write && *class != Class::Socket {
                let rule = Rule::short(*call, *class);
                rules.extend(nths.iter().map(|nth| rule.only(*nth)));
                rules.push(rule);
            }
        }
        Self(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::injected::FOREVER;

    #[test]
    fn each_error_is_met_once_early_once_in_the_middle_and_for_ever() {
        let plan = Plan::of(&[(Call::Sync, Class::Wal, 9), (Call::Read, Class::Other, 5)]);
        let nths: Vec<(u64, u64)> = plan.0.iter().map(|rule| (rule.from, rule.times)).collect();
        assert_eq!(nths[..4], [(1, 1), (2, 1), (5, 1), (1, FOREVER)]);
        assert_eq!(plan.0.len(), 8, "two errors, four runs each, and nothing of what is not ours");
    }

    #[test]
    fn an_interruption_never_lasts() {
        let plan = Plan::of(&[(Call::Read, Class::Transcript, 1)]);
        let lasting: Vec<String> = plan.0.iter().filter(|rule| rule.times == FOREVER).map(Rule::what).collect();
        assert_eq!(lasting, ["EIO"]);
    }
}
