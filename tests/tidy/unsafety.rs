//! Rules about `unsafe`: where it stands, how often, and that each says why it is sound.

use std::collections::BTreeMap;
use std::path::Path;

use super::{assert_none, rust_files};

/// Every file with unsafe code, and how many blocks, functions and implementations it has of it. A new one is a decision: it
/// is put here by whoever reviewed it.
const KNOWN: &[(&str, usize)] = &[
    ("daemon/src/system/allocator.rs", 1),
    ("processor/src/embed/vnni.rs", 4),
    ("schema/src/vec_extension.rs", 2),
    // Stands in for calls of the C library, in tests alone.
    ("tests/preload/src/calls.rs", 18),
    ("tests/preload/src/files.rs", 5),
    ("tests/preload/src/rules.rs", 7),
];

/// Lines above a block among which its reason begins: the reason may take some, and a statement may be broken.
const REACH: usize = 8;

/// The 0-based lines on which unsafe code begins.
fn blocks(text: &str) -> Vec<usize> {
    let begins = [
        concat!("unsafe", " {"),
        concat!("unsafe", " impl "),
        concat!("unsafe", " fn "),
        concat!("unsafe", " extern \"C\" {"),
    ];
    let code = |line: &str| !line.trim_start().starts_with("//");
    let lines = text.lines().enumerate().filter(|(_, line)| code(line));
    lines
        .flat_map(|(number, line)| std::iter::repeat_n(number, begins.iter().map(|begin| line.matches(begin).count()).sum()))
        .collect()
}

/// Whether the block on this line says why it is sound.
fn is_justified(text: &str, number: usize) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let reason = |line: &&str| {
        let after = line.trim_start().strip_prefix("// SAFETY: ");
        after.is_some_and(|reason| reason.split_whitespace().count() >= 3)
    };
    lines[number.saturating_sub(REACH)..=number].iter().any(reason)
}

#[test]
fn unsafe_code_is_counted_and_justified() {
    let mut found = BTreeMap::new();
    let mut offenders = Vec::new();
    for (path, text) in rust_files() {
        let blocks = blocks(&text);
        if blocks.is_empty() {
            continue;
        }
        let silent = blocks.iter().filter(|number| !is_justified(&text, **number));
        offenders.extend(silent.map(|number| format!("{}:{}: no `// SAFETY: …` above it", path.display(), number + 1)));
        found.insert(path, blocks.len());
    }
    for (path, count) in &found {
        let known = KNOWN
            .iter()
            .find(|(known, _)| path == Path::new(known))
            .map_or(0, |(_, count)| *count);
        if known != *count {
            offenders.push(format!("{}: {count} of them, {known} known", path.display()));
        }
    }
    let gone = KNOWN.iter().filter(|(known, _)| !found.contains_key(Path::new(known)));
    offenders.extend(gone.map(|(known, _)| format!("{known}: none is left")));
    assert_none(
        "unsafe code is listed in tests/tidy/unsafety.rs, with its reason beside it",
        &offenders,
    );
}

#[test]
fn unsafe_code_is_found() {
    let begin = concat!("unsafe", " {");
    let text = format!(
        "// {begin}\n// SAFETY: the pointer is ours.\nlet a = {begin} x() }};\n\n\n\n\n\n\n\n\n\nlet b = {begin} y() }};\n"
    );
    assert_eq!(blocks(&text), [2, 12]);
    assert!(is_justified(&text, 2) && !is_justified(&text, 12));
    assert!(
        !is_justified(&format!("// SAFETY: fine\n{begin} }}"), 1),
        "one word is no reason"
    );
}
