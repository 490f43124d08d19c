//! The pages hang together: every link leads to a file and a heading that are there, and every file of `docs/` is reached from its table
//! of contents.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Component, Path, PathBuf};

use remembrancer_tests::book::Page;

use super::{assert_none, files, root};

/// Where a reader of the book begins.
const CONTENTS: &str = "docs/README.md";

/// Every page of the repository.
fn pages() -> Vec<Page> {
    let pages = files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        // Fixtures are no pages.
        .filter(|path| !path.components().any(|part| part.as_os_str() == "fixtures"));
    pages.map(|path| Page::read(&root(), path)).collect()
}

/// Where a link of `page` leads: a path from the root, and a heading; `None` out of the repository.
fn target(page: &Path, link: &str) -> Option<(PathBuf, Option<String>)> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = match link.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor.to_owned())),
        None => (link, None),
    };
    let path = if file.is_empty() {
        page.to_owned()
    } else {
        page.parent().unwrap_or(Path::new("")).join(file)
    };
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            // Out of the repository leads nowhere.
            Component::ParentDir if !plain.pop() => return Some((PathBuf::from(link), None)),
            Component::Normal(name) => plain.push(name),
            Component::ParentDir | Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some((plain, anchor))
}

#[test]
fn every_link_leads_somewhere() {
    let mut offenders = Vec::new();
    let mut found = 0;
    for page in pages() {
        for link in page.links() {
            let Some((path, anchor)) = target(&page.path, &link) else {
                continue;
            };
            found += 1;
            if !root().join(&path).exists() {
                offenders.push(format!("{}: {link}: no such file", page.path.display()));
                continue;
            }
            let has_heading = anchor.is_none_or(|anchor| Page::read(&root(), path).anchors().contains(&anchor));
            if !has_heading {
                offenders.push(format!("{}: {link}: no such heading", page.path.display()));
            }
        }
    }
    assert_none("a link leads to a file and a heading", &offenders);
    assert!(found > 100, "{found} links were found");
}

#[test]
fn every_file_of_the_book_is_reached_from_its_contents() {
    let all: BTreeSet<PathBuf> = files().into_iter().filter(|path| path.starts_with("docs")).collect();
    let mut reached: BTreeSet<PathBuf> = BTreeSet::new();
    let mut next = VecDeque::from([PathBuf::from(CONTENTS)]);
    while let Some(path) = next.pop_front() {
        // A link to a folder shows the files in it.
        let shown: Vec<PathBuf> = if root().join(&path).is_dir() {
            all.iter().filter(|file| file.parent() == Some(&path)).cloned().collect()
        } else {
            vec![path]
        };
        for file in shown.into_iter().filter(|file| all.contains(file)) {
            let is_page = file.extension().is_some_and(|extension| extension == "md");
            if !reached.insert(file.clone()) || !is_page {
                continue;
            }
            let links = Page::read(&root(), file.clone()).links();
            next.extend(links.iter().filter_map(|link| Some(target(&file, link)?.0)));
        }
    }
    let offenders: Vec<String> = all.difference(&reached).map(|path| path.display().to_string()).collect();
    assert_none("docs/README.md leads to every file of docs/", &offenders);
}
