//! The functions that stand in for the C library's: each asks what becomes of the call, and makes it or fails.
//!
//! `open` and `fcntl` take further arguments only for some flags and commands. Declared here with a fixed third one, they pass on
//! whatever stands in its register, as the calling conventions of Linux on x86-64 and `AArch64` allow.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{mode_t, off_t, size_t, ssize_t};

use crate::files;
use crate::page::{Call, Class};
use crate::rules::{Verdict, clock_offset, judge};

/// The C library's own function of a name, found at its first use.
struct Real {
    name: &'static str,
    found: AtomicPtr<c_void>,
}

impl Real {
    /// `name` ends with a zero.
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn pointer(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if !found.is_null() {
            return found;
        }
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr().cast()) };
        if found.is_null() {
            // SAFETY: ends the process, which could not go on without the function.
            unsafe { libc::abort() };
        }
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// Defines functions with the names, arguments and results of the C library's. `class` is what the call is about, `failed` what a
/// failed one gives; `opens` notes the result as an open descriptor; of a `short` one half of the named count is done.
macro_rules! stand_in {
    ($(
        $name:ident($($argument:ident: $type:ty),*) -> $result:ty,
        $call:ident of $class:expr, failed $failed:expr $(, opens $opens:ident)? $(, short $count:ident)?;
    )*) => {$(
        /// # Safety
        /// As the C library's function of this name.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            static REAL: Real = Real::new(concat!(stringify!($name), "\0"));
            type Function = unsafe extern "C" fn($($type),*) -> $result;
            // SAFETY: what the caller promises the C library of its paths is what the class is told by.
            let class: Class = unsafe { $class };
            let verdict = judge(Call::$call, class);
            if verdict == Verdict::Failed {
                return $failed;
            }
            $(let $count = if verdict == Verdict::Short { ($count / 2).max(1) } else { $count };)?
            // SAFETY: the C library's function of this name has this signature.
            let real: Function = unsafe { std::mem::transmute::<*mut c_void, Function>(REAL.pointer()) };
            // SAFETY: the caller's promise; where it was made shorter, a part of what was promised.
            let result = unsafe { real($($argument),*) };
            $(files::$opens(result, class);)?
            result
        }
    )*};
}

/// What tells the class by a path or a descriptor, for the table below: no more than what it says.
// SAFETY: nothing is asked of the caller; it has the type of those that do.
unsafe fn is(class: Class) -> Class {
    class
}

/// As [`is`], by a descriptor.
// SAFETY: nothing is asked of the caller; it has the type of those that do.
unsafe fn of(fd: c_int) -> Class {
    files::of(fd)
}

use files::{at, at_or_of};

stand_in! {
    open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, Open of at(path), failed -1, opens note;
    open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, Open of at(path), failed -1, opens note;
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int, Open of at(path), failed -1, opens note;
    openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int, Open of at(path), failed -1, opens note;
    read(fd: c_int, bytes: *mut c_void, count: size_t) -> ssize_t, Read of of(fd), failed -1, short count;
    pread(fd: c_int, bytes: *mut c_void, count: size_t, from: off_t) -> ssize_t, Read of of(fd), failed -1;
    pread64(fd: c_int, bytes: *mut c_void, count: size_t, from: off_t) -> ssize_t, Read of of(fd), failed -1;
    recv(fd: c_int, bytes: *mut c_void, count: size_t, flags: c_int) -> ssize_t, Read of of(fd), failed -1, short count;
    write(fd: c_int, bytes: *const c_void, count: size_t) -> ssize_t, Write of of(fd), failed -1, short count;
    pwrite(fd: c_int, bytes: *const c_void, count: size_t, from: off_t) -> ssize_t, Write of of(fd), failed -1, short count;
    pwrite64(fd: c_int, bytes: *const c_void, count: size_t, from: off_t) -> ssize_t, Write of of(fd), failed -1, short count;
    writev(fd: c_int, parts: *const libc::iovec, count: c_int) -> ssize_t, Write of of(fd), failed -1;
    send(fd: c_int, bytes: *const c_void, count: size_t, flags: c_int) -> ssize_t, Write of of(fd), failed -1, short count;
    fsync(fd: c_int) -> c_int, Sync of of(fd), failed -1;
    fdatasync(fd: c_int) -> c_int, Sync of of(fd), failed -1;
    ftruncate(fd: c_int, length: off_t) -> c_int, Truncate of of(fd), failed -1;
    ftruncate64(fd: c_int, length: off_t) -> c_int, Truncate of of(fd), failed -1;
    rename(from: *const c_char, to: *const c_char) -> c_int, Rename of at(to), failed -1;
    unlink(path: *const c_char) -> c_int, Unlink of at(path), failed -1;
    mkdir(path: *const c_char, mode: mode_t) -> c_int, Mkdir of at(path), failed -1;
    chmod(path: *const c_char, mode: mode_t) -> c_int, Chmod of at(path), failed -1;
    fchmod(fd: c_int, mode: mode_t) -> c_int, Chmod of of(fd), failed -1;
    stat(path: *const c_char, found: *mut c_void) -> c_int, Stat of at(path), failed -1;
    stat64(path: *const c_char, found: *mut c_void) -> c_int, Stat of at(path), failed -1;
    lstat(path: *const c_char, found: *mut c_void) -> c_int, Stat of at(path), failed -1;
    lstat64(path: *const c_char, found: *mut c_void) -> c_int, Stat of at(path), failed -1;
    fstat(fd: c_int, found: *mut c_void) -> c_int, Stat of of(fd), failed -1;
    fstat64(fd: c_int, found: *mut c_void) -> c_int, Stat of of(fd), failed -1;
    statx(folder: c_int, path: *const c_char, flags: c_int, mask: c_uint, found: *mut c_void) -> c_int, Stat of at_or_of(folder, path), failed -1;
    access(path: *const c_char, mode: c_int) -> c_int, Stat of at(path), failed -1;
    flock(fd: c_int, operation: c_int) -> c_int, Lock of of(fd), failed -1;
    mmap(wish: *mut c_void, length: size_t, access: c_int, flags: c_int, fd: c_int, from: off_t) -> *mut c_void, Map of of(fd), failed libc::MAP_FAILED;
    mmap64(wish: *mut c_void, length: size_t, access: c_int, flags: c_int, fd: c_int, from: off_t) -> *mut c_void, Map of of(fd), failed libc::MAP_FAILED;
    opendir(path: *const c_char) -> *mut c_void, ReadFolder of at(path), failed ptr::null_mut();
    socket(family: c_int, kind: c_int, protocol: c_int) -> c_int, Socket of is(Class::Socket), failed -1, opens note;
    bind(fd: c_int, address: *const c_void, length: libc::socklen_t) -> c_int, Bind of of(fd), failed -1;
    listen(fd: c_int, waiting: c_int) -> c_int, Listen of of(fd), failed -1;
    accept4(fd: c_int, peer: *mut c_void, length: *mut libc::socklen_t, flags: c_int) -> c_int, Accept of is(Class::Socket), failed -1, opens note;
    inotify_init1(flags: c_int) -> c_int, WatchInit of is(Class::Other), failed -1;
    inotify_add_watch(fd: c_int, path: *const c_char, mask: c_uint) -> c_int, WatchAdd of at(path), failed -1;
}

/// # Safety
/// As the C library's `close`.
#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    static REAL: Real = Real::new("close\0");
    type Function = unsafe extern "C" fn(c_int) -> c_int;
    files::note(fd, Class::Other);
    // SAFETY: the C library's function of this name has this signature.
    let real = unsafe { std::mem::transmute::<*mut c_void, Function>(REAL.pointer()) };
    // SAFETY: the caller's promise.
    unsafe { real(fd) }
}

/// Locks are judged, doubles of a descriptor are followed, all else is passed on. A lock is always given back: SQLite keeps one whose
/// return failed for as long as the process lives, and a local file system has no reason to refuse it.
///
/// # Safety
/// As the C library's `fcntl` with this `command`.
// SAFETY: what is asked of the caller is passed on as it came.
unsafe fn control(real: &Real, fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
    type Function = unsafe extern "C" fn(c_int, c_int, ...) -> c_int;
    let class = files::of(fd);
    let is_lock = matches!(
        command,
        libc::F_SETLK | libc::F_SETLKW | libc::F_GETLK | libc::F_OFD_SETLK | libc::F_OFD_SETLKW
    );
    // SAFETY: these commands take a lock's description, which the caller promises.
    let gives_back = is_lock && unsafe { i32::from((*argument.cast::<libc::flock>()).l_type) } == libc::F_UNLCK;
    if is_lock && !gives_back && judge(Call::Lock, class) == Verdict::Failed {
        return -1;
    }
    // SAFETY: the C library's functions of these names have this signature.
    let real = unsafe { std::mem::transmute::<*mut c_void, Function>(real.pointer()) };
    // SAFETY: the caller's promise; where the command takes no argument, none is read.
    let result = unsafe { real(fd, command, argument) };
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
        files::note(result, class);
    }
    result
}

/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
    static REAL: Real = Real::new("fcntl\0");
    // SAFETY: the caller's promise.
    unsafe { control(&REAL, fd, command, argument) }
}

/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl64(fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
    static REAL: Real = Real::new("fcntl64\0");
    // SAFETY: the caller's promise.
    unsafe { control(&REAL, fd, command, argument) }
}

/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    static REAL: Real = Real::new("clock_gettime\0");
    type Function = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int;
    // SAFETY: the C library's function of this name has this signature.
    let real = unsafe { std::mem::transmute::<*mut c_void, Function>(REAL.pointer()) };
    // SAFETY: the caller's promise.
    let result = unsafe { real(clock, time) };
    if result == 0 && clock == libc::CLOCK_REALTIME {
        // SAFETY: the call succeeded, so the time is there.
        unsafe { (*time).tv_sec += clock_offset() / 1_000 };
    }
    result
}
