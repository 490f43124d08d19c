//! The memory that the process holds on to.

/// Heaps that threads share, at most: one for what answers prompts, and one for what works in the background.
///
/// The GNU C library gives each thread that finds the others busy a heap of its own, up to eight for each processor, and keeps what was
/// freed in each. With about twenty threads that was 25 MB at 100,000 episodes (`docs/performance.md`).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: i32 = 2;

/// Has the threads share few heaps. To be called before there are threads; of other libraries than the GNU one nothing is asked.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator has no safe interface to set it up")]
pub(crate) fn share_heaps() {
    // SAFETY: `mallopt` takes two numbers and touches nothing but the allocator's own settings, under the allocator's own lock.
    let is_taken = unsafe { libc::mallopt(libc::M_ARENA_MAX, HEAPS) };
    if is_taken == 0 {
        tracing::debug!("the allocator does not take the bound of its heaps");
    }
}

/// Nothing is asked of this system's allocator.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_heaps() {}
