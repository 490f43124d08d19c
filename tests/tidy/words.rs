//! Words that no file may hold: places of one machine, and the hosts of registries, which each builder chooses.

use super::{assert_none, files, text};

#[test]
fn no_file_names_a_place_of_one_machine_or_a_registry() {
    // Written in pieces, since this file is looked at, too.
    let banned = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("cra", "tes.io"),
        concat!("py", "pi.org"),
        concat!("npm", "js.org"),
        concat!("python", "hosted.org"),
        concat!("rs", "proxy"),
    ];
    let mut offenders = Vec::new();
    for path in files() {
        // The lockfile is cargo's, deny.toml has to name the sources that it allows, and redaction the files that hold tokens.
        if path.ends_with("Cargo.lock") || path.ends_with("deny.toml") || path.starts_with("processor/src/ingest/redact") {
            continue;
        }
        for (number, line) in text(&path).unwrap_or_default().lines().enumerate() {
            for word in banned.iter().filter(|word| holds(line, word)) {
                offenders.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    assert_none("speak of the project alone", &offenders);
}

/// A path begins with its slash: `home/work/shop` names no place of this machine.
fn holds(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !word.starts_with('/') || before.is_none_or(|c| !(c.is_alphanumeric() || "._-~}:/\\".contains(c)))
    })
}

#[test]
fn a_place_is_a_path_from_the_root() {
    let word = concat!("/wo", "rk/");
    assert!(holds(&format!("see {word}main"), word) && holds(&format!("\"{word}x\""), word));
    assert!(!holds(&format!("home{word}shop"), word) && !holds("shop/works", word));
}
