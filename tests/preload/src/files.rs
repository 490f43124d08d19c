//! Which open descriptor belongs to which class of files: noted as it is opened, forgotten as it is closed.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicU8, Ordering};

use crate::page::Class;

/// Descriptors that are followed: more than a process under test opens.
const MOST: usize = 4_096;

static CLASSES: [AtomicU8; MOST] = [const { AtomicU8::new(0) }; MOST];

/// The class of an open descriptor.
pub(crate) fn of(fd: c_int) -> Class {
    if fd == libc::STDERR_FILENO {
        return Class::Log;
    }
    let number = usize::try_from(fd).ok().and_then(|fd| CLASSES.get(fd));
    let number = number.map_or(0, |class| class.load(Ordering::Relaxed));
    Class::ALL.get(usize::from(number)).copied().unwrap_or(Class::Other)
}

/// The class of the file at `path`.
///
/// # Safety
/// `path` is null or a string that ends with a zero.
// SAFETY: the path is read to its zero, and no further.
pub(crate) unsafe fn at(path: *const c_char) -> Class {
    if path.is_null() {
        return Class::Other;
    }
    // SAFETY: the caller's promise.
    Class::of(unsafe { CStr::from_ptr(path) }.to_bytes())
}

/// The class of the file at `path`, or where that is empty of `fd`.
///
/// # Safety
/// As [`at`].
pub(crate) unsafe fn at_or_of(fd: c_int, path: *const c_char) -> Class {
    // SAFETY: the caller's promise; that it ends with a zero lets its first byte be read.
    if path.is_null() || unsafe { *path } == 0 {
        of(fd)
    } else {
        // SAFETY: the caller's promise.
        unsafe { at(path) }
    }
}

/// Notes that `fd` was opened; a negative one was not.
pub(crate) fn note(fd: c_int, class: Class) {
    if let Some(noted) = usize::try_from(fd).ok().and_then(|fd| CLASSES.get(fd)) {
        noted.store(class as u8, Ordering::Relaxed);
    }
}
