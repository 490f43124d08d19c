//! The test's side of the control page: rules are written, counts are read, while processes run that have it mapped.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::io::Errno;

use super::page::{
    ANY, Act, CLOCK_AT, Call, Class, MAGIC, MAGIC_AT, RULE_WORDS, RULES, RULES_AT, VARIABLE, WORDS, count_at, rule,
};
use crate::shared::skip;

/// As often as there are calls.
pub const FOREVER: u64 = u64::MAX;

/// The library's file, as cargo names it.
const LIBRARY: &str = "libremembrancer_preload.so";

/// Where the library lies; `None`, with a printed reason, on a system that has no such libraries.
///
/// # Panics
/// Where it was not built.
pub fn library() -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        skip("errors are injected by a library that Linux alone loads");
        return None;
    }
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().expect("invariant: a program lies in a folder");
    // Cargo puts a dependency's library beside the tests, and one folder below the programs.
    let found = [folder.join(LIBRARY), folder.join("deps").join(LIBRARY)]
        .into_iter()
        .find(|path| path.is_file());
    Some(found.unwrap_or_else(|| {
        panic!(
            "{LIBRARY} is not in {}; `cargo build -p remembrancer-tests` makes it",
            folder.display()
        )
    }))
}

/// Which calls are touched, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Which call; every one if none is named.
    pub call: Option<Call>,
    /// Of which class of files; of every one if none is named.
    pub class: Option<Class>,
    /// From which such call on, the first being 1.
    pub from: u64,
    /// For how many.
    pub times: u64,
    act: Act,
    value: u64,
}

impl Rule {
    /// Every such call fails.
    pub fn fail(call: Call, class: Class, error: Errno) -> Self {
        Self {
            call: Some(call),
            class: Some(class),
            from: 1,
            times: FOREVER,
            act: Act::Fail,
            value: error.raw_os_error() as u64,
        }
    }

    /// Every such write does half of what it should.
    pub fn short(call: Call, class: Class) -> Self {
        Self {
            act: Act::Short,
            ..Self::fail(call, class, Errno::IO)
        }
    }

    /// Every such call is made after a wait.
    pub fn delay(call: Call, class: Class, wait: Duration) -> Self {
        Self {
            act: Act::Delay,
            value: wait.as_millis() as u64,
            ..Self::fail(call, class, Errno::IO)
        }
    }

    /// The same of the files of every class.
    #[must_use]
    pub fn of_all(self) -> Self {
        Self { class: None, ..self }
    }

    /// The same for the `nth` call alone.
    #[must_use]
    pub fn only(self, nth: u64) -> Self {
        Self {
            from: nth,
            times: 1,
            ..self
        }
    }

    /// The same from the `nth` call on.
    #[must_use]
    pub fn from_the(self, nth: u64) -> Self {
        Self {
            from: nth.max(1),
            ..self
        }
    }

    /// Whether the call fails, and is not only made otherwise.
    pub fn is_error(&self) -> bool {
        self.act == Act::Fail
    }

    /// The error's name, or what else is done.
    pub fn what(&self) -> String {
        match self.act {
            Act::Fail => error_name(self.value),
            Act::Short => "short".to_owned(),
            Act::Delay => format!("{} ms", self.value),
        }
    }
}

fn error_name(number: u64) -> String {
    let named = [
        (Errno::IO, "EIO"),
        (Errno::NOSPC, "ENOSPC"),
        (Errno::DQUOT, "EDQUOT"),
        (Errno::ACCESS, "EACCES"),
        (Errno::PERM, "EPERM"),
        (Errno::ROFS, "EROFS"),
        (Errno::MFILE, "EMFILE"),
        (Errno::INTR, "EINTR"),
        (Errno::AGAIN, "EAGAIN"),
        (Errno::NOLCK, "ENOLCK"),
        (Errno::NOMEM, "ENOMEM"),
        (Errno::CONNABORTED, "ECONNABORTED"),
    ];
    let found = named.iter().find(|(error, _)| error.raw_os_error() as u64 == number);
    found.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
}

/// A control page of a test, and the library that reads it.
pub struct Control {
    page: fs_err::File,
    path: PathBuf,
    library: PathBuf,
}

impl Control {
    /// A new page in `folder` called `name`, without a rule; `None` as [`library`].
    ///
    /// # Panics
    /// Where it can't be written.
    pub fn new(folder: &Path, name: &str) -> Option<Self> {
        let library = library()?;
        let path = folder.join(name);
        let page = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .unwrap();
        page.set_len((WORDS * size_of::<u64>()) as u64).unwrap();
        let control = Self { page, path, library };
        control.put(MAGIC_AT, MAGIC);
        Some(control)
    }

    /// The environment of a process that is to have the library in it.
    ///
    /// # Panics
    /// Never: the variable's name is ASCII.
    pub fn variables(&self) -> [(&'static str, String); 2] {
        let name = VARIABLE.to_str().expect("invariant: its name is ASCII");
        [
            ("LD_PRELOAD", self.library.display().to_string()),
            (name, self.path.display().to_string()),
        ]
    }

    /// Has what `command` starts have the library in it.
    pub fn surround(&self, command: &mut Command) {
        command.envs(self.variables());
    }

    /// Puts `rules` into force, in place of those before.
    ///
    /// # Panics
    /// Where there are more than the page has room for.
    pub fn arm(&self, rules: &[Rule]) {
        self.disarm();
        assert!(rules.len() <= RULES, "{RULES} rules at most");
        for (number, rule) in rules.iter().enumerate() {
            let at = |word: usize| RULES_AT + number * RULE_WORDS + word;
            self.put(at(rule::CALL), rule.call.map_or(ANY, |call| call as u64));
            self.put(at(rule::CLASS), rule.class.map_or(ANY, |class| class as u64));
            self.put(at(rule::FROM), rule.from);
            self.put(at(rule::TIMES), rule.times);
            self.put(at(rule::ACT), rule.act as u64);
            self.put(at(rule::VALUE), rule.value);
            self.put(at(rule::SEEN), 0);
            self.put(at(rule::FIRED), 0);
            self.put(at(rule::ARMED), 1);
        }
    }

    /// Lets every call be made again. What the rules did can still be asked.
    pub fn disarm(&self) {
        for number in 0..RULES {
            self.put(RULES_AT + number * RULE_WORDS + rule::ARMED, 0);
        }
    }

    /// How many calls the rule of this number touched.
    pub fn fired(&self, number: usize) -> u64 {
        self.get(RULES_AT + number * RULE_WORDS + rule::FIRED)
    }

    /// How often `call` of `class` was made.
    pub fn count(&self, call: Call, class: Class) -> u64 {
        self.get(count_at(call, class))
    }

    /// How often each call of each class was made, those that were made alone.
    pub fn counts(&self) -> Vec<(Call, Class, u64)> {
        let all = Call::ALL
            .iter()
            .flat_map(|call| Class::ALL.iter().map(|class| (*call, *class)));
        all.map(|(call, class)| (call, class, self.count(call, class)))
            .filter(|(_, _, count)| *count > 0)
            .collect()
    }

    /// Puts the wall clock of the processes ahead by so many seconds, or back.
    pub fn set_clock(&self, seconds: i64) {
        self.put(CLOCK_AT, (seconds * 1_000) as u64);
    }

    fn put(&self, at: usize, word: u64) {
        let at = (at * size_of::<u64>()) as u64;
        self.page.file().write_all_at(&word.to_ne_bytes(), at).unwrap();
    }

    fn get(&self, at: usize) -> u64 {
        let mut word = [0; size_of::<u64>()];
        self.page
            .file()
            .read_exact_at(&mut word, (at * size_of::<u64>()) as u64)
            .unwrap();
        u64::from_ne_bytes(word)
    }
}
