//! The control page: a small file that a test writes and that every process with the library in it has mapped. Which calls of
//! which files fail comes in; how often each was made goes out. Both sides compile this one file.

/// How many words of 64 bits the page has, in the order of bytes of the machine.
pub const WORDS: usize = 1_024;
/// The environment variable that names the page.
pub const VARIABLE: &std::ffi::CStr = c"REMEMBRANCER_INJECT";
/// What stands in [`MAGIC_AT`] of a page.
pub const MAGIC: u64 = 0x5265_6d65_6d62_7231;
/// Where that is.
pub const MAGIC_AT: usize = 0;
/// Milliseconds that are added to the wall clock (signed).
pub const CLOCK_AT: usize = 1;
/// From here on: how often each call was made, a row a call, a column a class.
pub const COUNTS_AT: usize = 16;
/// From here on: the rules.
pub const RULES_AT: usize = 512;
/// How many rules there may be.
pub const RULES: usize = 8;
/// Words of one rule.
pub const RULE_WORDS: usize = 16;

/// Words of a rule, from its begin.
pub mod rule {
    /// Whether it holds: written last.
    pub const ARMED: usize = 0;
    /// Which call, or [`super::ANY`].
    pub const CALL: usize = 1;
    /// Of which class of files, or [`super::ANY`].
    pub const CLASS: usize = 2;
    /// From which such call on, the first being 1.
    pub const FROM: usize = 3;
    /// For how many.
    pub const TIMES: usize = 4;
    /// Which [`super::Act`].
    pub const ACT: usize = 5;
    /// The error's number, or milliseconds.
    pub const VALUE: usize = 6;
    /// How many such calls there were: counted by the library.
    pub const SEEN: usize = 7;
    /// How many of them failed: counted by the library.
    pub const FIRED: usize = 8;
}

/// Every call, or every class.
pub const ANY: u64 = u64::MAX;

/// What is done with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Act {
    /// It fails with an error's number, and is not made.
    Fail = 0,
    /// Only half of what was to be written is.
    Short = 1,
    /// It is made after a wait.
    Delay = 2,
}

/// Names, each for one value, in their order.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$what:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$what])* $value,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$value,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $text,)* }
            }
        }
    };
}

named! {
    /// A call of the C library.
    Call {
        /// `open`, `openat`.
        Open = "open",
        /// `read`, `pread`, `recv`.
        Read = "read",
        /// `write`, `pwrite`, `writev`, `send`.
        Write = "write",
        /// `fsync`, `fdatasync`.
        Sync = "sync",
        /// `ftruncate`.
        Truncate = "truncate",
        /// `rename`, by the new name.
        Rename = "rename",
        /// `unlink`.
        Unlink = "unlink",
        /// `mkdir`.
        Mkdir = "mkdir",
        /// `chmod`, `fchmod`.
        Chmod = "chmod",
        /// `stat` and its kin.
        Stat = "stat",
        /// `fcntl` with a lock, `flock`.
        Lock = "lock",
        /// `mmap` of a file.
        Map = "mmap",
        /// `opendir`.
        ReadFolder = "opendir",
        /// `socket`.
        Socket = "socket",
        /// `bind`.
        Bind = "bind",
        /// `listen`.
        Listen = "listen",
        /// `accept4`.
        Accept = "accept",
        /// `inotify_init1`.
        WatchInit = "inotify_init",
        /// `inotify_add_watch`.
        WatchAdd = "inotify_add_watch",
    }
}

named! {
    /// What a file is to the program.
    Class {
        /// Anything else, and what has no path.
        Other = "other",
        /// The database.
        Database = "db",
        /// Its log.
        Wal = "wal",
        /// Its index of the log.
        Shm = "shm",
        /// A lock file.
        Lock = "lock",
        /// A transcript.
        Transcript = "transcript",
        /// A folder of transcripts.
        Folder = "folder",
        /// A recollection file, its temporary form, their folder.
        Recollection = "recollection",
        /// Standard error.
        Log = "log",
        /// A unix socket.
        Socket = "socket",
        /// Settings.
        Settings = "settings",
        /// The hook's note of a miss.
        Backoff = "backoff",
    }
}

impl Class {
    /// The class of the file at `path`, by its name alone.
    pub fn of(path: &[u8]) -> Self {
        let ends = |end: &str| path.ends_with(end.as_bytes());
        let holds = |part: &str| path.windows(part.len()).any(|window| window == part.as_bytes());
        if ends("memory.db") || ends("memory.db-journal") {
            Self::Database
        } else if ends("memory.db-wal") {
            Self::Wal
        } else if ends("memory.db-shm") {
            Self::Shm
        } else if ends(".lock") {
            Self::Lock
        } else if holds("/.claude/projects") {
            if ends(".jsonl") { Self::Transcript } else { Self::Folder }
        } else if holds("/remembrancer/recollections") {
            Self::Recollection
        } else if ends(".sock") {
            Self::Socket
        } else if ends("/remembrancer/config.toml") || ends("settings.json") {
            Self::Settings
        } else if ends("hook-backoff") {
            Self::Backoff
        } else {
            Self::Other
        }
    }
}

/// Where the count of `call` of `class` stands.
pub fn count_at(call: Call, class: Class) -> usize {
    COUNTS_AT + call as usize * Class::ALL.len() + class as usize
}
