//! The control page as this process has it mapped: which call is judged comes in, what is done with it goes out.

use std::ffi::{c_int, c_long};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::page::{
    ANY, Act, CLOCK_AT, Call, Class, MAGIC, MAGIC_AT, RULE_WORDS, RULES, RULES_AT, VARIABLE, WORDS, count_at, rule,
};

type Page = [AtomicU64; WORDS];

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is made.
    Made,
    /// It is made with half of the bytes.
    Short,
    /// It is not made; `errno` is set.
    Failed,
}

/// Counts the call, waits where a rule says so, and says what becomes of it.
pub(crate) fn judge(call: Call, class: Class) -> Verdict {
    let Some(page) = page() else { return Verdict::Made };
    page[count_at(call, class)].fetch_add(1, Ordering::Relaxed);
    for number in 0..RULES {
        let word = |word: usize| &page[RULES_AT + number * RULE_WORDS + word];
        let about = |of: usize, value: u64| matches!(word(of).load(Ordering::Relaxed), any if any == ANY || any == value);
        let is_armed = word(rule::ARMED).load(Ordering::Acquire) != 0;
        if !is_armed || !about(rule::CALL, call as u64) || !about(rule::CLASS, class as u64) {
            continue;
        }
        let seen = word(rule::SEEN).fetch_add(1, Ordering::Relaxed) + 1;
        let nth = seen.checked_sub(word(rule::FROM).load(Ordering::Relaxed));
        if nth.is_none_or(|nth| nth >= word(rule::TIMES).load(Ordering::Relaxed)) {
            continue;
        }
        word(rule::FIRED).fetch_add(1, Ordering::Relaxed);
        let (act, value) = (
            word(rule::ACT).load(Ordering::Relaxed),
            word(rule::VALUE).load(Ordering::Relaxed),
        );
        if act == Act::Fail as u64 {
            fail(value as c_int);
            return Verdict::Failed;
        }
        if act == Act::Short as u64 {
            return Verdict::Short;
        }
        wait(value);
    }
    Verdict::Made
}

/// Milliseconds that the wall clock is ahead.
pub(crate) fn clock_offset() -> i64 {
    page().map_or(0, |page| page[CLOCK_AT].load(Ordering::Relaxed) as i64)
}

fn fail(errno: c_int) {
    // SAFETY: the C library gives each thread a place of its own for its error, for as long as the thread lives.
    unsafe { *libc::__errno_location() = errno };
}

fn wait(millis: u64) {
    let span = libc::timespec {
        tv_sec: (millis / 1_000) as libc::time_t,
        tv_nsec: (millis % 1_000 * 1_000_000) as c_long,
    };
    // SAFETY: `span` is a valid time, and the rest of it is not asked for.
    unsafe { libc::nanosleep(&raw const span, ptr::null_mut()) };
}

/// The page that the environment names; `None` where it names none, or none that is one.
fn page() -> Option<&'static Page> {
    static PAGE: OnceLock<Option<&'static Page>> = OnceLock::new();
    *PAGE.get_or_init(map)
}

/// Maps the page by system calls alone: the functions of the C library are those that are stood in for.
fn map() -> Option<&'static Page> {
    let length = size_of::<Page>();
    // SAFETY: the name ends with a zero; the environment of a process under test does not change.
    let path = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    if path.is_null() {
        return None;
    }
    // SAFETY: `path` is a string that ends with a zero; no mode is needed, since nothing is made.
    let file = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, libc::O_RDWR | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    // SAFETY: a new mapping of `length` bytes at a place of the system's choice touches no other memory.
    let mapped = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            ptr::null_mut::<u8>(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file,
            0 as c_long,
        )
    };
    // SAFETY: `file` was opened above and is used nowhere else; the mapping stays.
    unsafe { libc::syscall(libc::SYS_close, file) };
    if mapped < 0 {
        return None;
    }
    // SAFETY: `length` bytes are mapped there, at the begin of a page of memory and so aligned, and stay mapped until the process
    // ends. The test makes the file as long as that before it starts a process, and never cuts it. Every value of the bytes is a
    // valid word, and other processes write them by whole words, as these atomics expect.
    let page = unsafe { &*(mapped as *const Page) };
    (page[MAGIC_AT].load(Ordering::Relaxed) == MAGIC).then_some(page)
}
