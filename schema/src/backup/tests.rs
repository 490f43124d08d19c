use super::*;
use crate::testing::Store;
use crate::{EpisodeText, ForgetTarget, Reader};

fn go_on(_: CopyProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn texts(path: &Path) -> Vec<EpisodeText> {
    let reader = Reader::open(path).expect("opens");
    let ids = reader.episodes_of(&ForgetTarget::All).expect("reads");
    reader.texts(&ids).expect("reads")
}

#[test]
fn a_copy_beside_a_writer_is_of_one_moment_whole_and_private() {
    let mut store = Store::new();
    let many: Vec<String> = (0..200).map(|number| format!("{number} {}", "word ".repeat(6_000))).collect();
    store.fill(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let (source, target) = (store.path.clone(), store.path.with_file_name("backups/a.db"));
    let before = texts(&source);
    let mut steps = 0;
    let mut last = None;
    let copy = FreshCopy::make(&source, &target, &mut |progress| {
        // Stored while the copy is made: it neither waits nor is copied.
        store.writer.add_counter("steps", 1).expect("writes");
        store.writer.set_paused(Some(crate::Pause::Indefinite)).expect("writes");
        steps += 1;
        last = Some(progress);
        ControlFlow::Continue(())
    });
    let copy = copy.expect("copies");
    assert!(steps > 1, "one step would show nothing");
    assert!(last.is_some_and(|last| last.done <= last.all && last.done > 0), "{last:?}");
    assert!(!target.exists(), "it is not in its place yet");
    let contents = copy.put_at(&target).expect("puts");
    assert_eq!(contents.episodes, 200);
    assert_eq!(texts(&target), before);
    assert_eq!(Reader::open(&target).expect("opens").paused().expect("reads"), None);
    let mode =
        |path: &Path| std::os::unix::fs::PermissionsExt::mode(&fs_err::metadata(path).expect("is there").permissions()) & 0o777;
    assert_eq!((mode(&target), mode(target.parent().expect("has a folder"))), (0o600, 0o700));
    let left = fs_err::read_dir(target.parent().expect("has a folder"))
        .expect("lists")
        .count();
    assert_eq!(left, 1, "the copy alone: nothing of the making, and no log");
}

#[test]
fn a_copy_that_is_stopped_leaves_nothing() {
    let mut store = Store::new();
    let many: Vec<String> = (0..200).map(|number| format!("{number} {}", "word ".repeat(900))).collect();
    store.fill(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let target = store.path.with_file_name("backups/a.db");
    let stopped = FreshCopy::make(&store.path, &target, &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(CopyError::Stopped)), "{stopped:?}");
    assert_eq!(
        fs_err::read_dir(target.parent().expect("has a folder"))
            .expect("lists")
            .count(),
        0
    );
}

#[test]
fn a_damaged_database_gives_no_copy() {
    let mut store = Store::new();
    store.fill(&["one", "two", "three"]);
    store.writer.checkpoint().expect("checkpoints");
    let path = store.path.clone();
    let copy = path.with_file_name("plain.db");
    fs_err::copy(&path, &copy).expect("copies");
    let mut bytes = fs_err::read(&copy).expect("reads");
    let middle = bytes.len() / 2;
    let end = bytes.len() - 8192;
    bytes[middle..end].fill(0x5a);
    fs_err::write(&copy, &bytes).expect("writes");
    let made = FreshCopy::make(&copy, &path.with_file_name("b.db"), &mut go_on);
    assert!(
        matches!(
            made,
            Err(CopyError::Damaged { .. } | CopyError::Sqlite(_) | CopyError::Open(_))
        ),
        "{made:?}"
    );
    assert!(Contents::of_whole(&copy).is_err());
    let names: Vec<_> = fs_err::read_dir(path.parent().expect("has a folder"))
        .expect("lists")
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().contains(".part"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn only_nothing_and_a_memory_may_be_replaced() {
    let store = Store::new();
    let beside = |name: &str| store.path.with_file_name(name);
    assert!(may_be_replaced(&beside("new.db"), &store.path));
    fs_err::write(beside("letter.txt"), "dear reader").expect("writes");
    assert!(!may_be_replaced(&beside("letter.txt"), &store.path));
    fs_err::write(beside("empty"), "").expect("writes");
    assert!(!may_be_replaced(&beside("empty"), &store.path));
    assert!(!may_be_replaced(store.path.parent().expect("has a folder"), &store.path));
    assert!(!may_be_replaced(&store.path, &store.path), "not the memory itself");
    fs_err::hard_link(&store.path, beside("other-name.db")).expect("links");
    assert!(!may_be_replaced(&beside("other-name.db"), &store.path), "by whatever name");
    FreshCopy::make(&store.path, &beside("old.db"), &mut go_on)
        .and_then(|copy| copy.put_at(&beside("old.db")))
        .expect("copies");
    assert!(may_be_replaced(&beside("old.db"), &store.path));
    assert_eq!(fs_err::read_to_string(beside("letter.txt")).expect("reads"), "dear reader");
}
