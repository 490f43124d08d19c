use std::fmt::Write;

use super::*;
use crate::cli::all_variables;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");

fn settings() -> Vec<Described> {
    let parts = parts().into_iter();
    parts
        .filter_map(|part| match part {
            Part::Setting(setting) => Some(setting),
            Part::Text(_) | Part::Table(_) => None,
        })
        .collect()
}

#[test]
fn every_setting_says_what_it_is_for_and_what_is_allowed() {
    let settings = settings();
    assert_eq!(settings.len(), crate::config::settings("").len());
    for setting in &settings {
        assert!(!setting.text.is_empty() && !setting.allowed.is_empty(), "{setting:?}");
    }
    let allowed = |key: &str| &settings.iter().find(|setting| setting.key == key).unwrap().allowed;
    assert_eq!(allowed("top"), "a whole number, 0 or more; choose 1 to 10");
    assert_eq!(allowed("usual_folders"), "true or false");
    assert!(
        allowed("budget").ends_with("choose between 20ms and 240ms"),
        "{}",
        allowed("budget")
    );
    assert_eq!(allowed("exclude"), "write the whole path, from / or from ~/");
}

/// The generated part of the page between two marks.
fn tables() -> String {
    let mut page = String::new();
    let mut is_table = false;
    for part in parts() {
        match part {
            // What stands before the first table, the page says in its own words.
            Part::Text(text) if is_table => write!(page, "\n{text}\n").unwrap(),
            Part::Text(_) => {}
            Part::Table(name) => {
                is_table = true;
                write!(
                    page,
                    "\n### `[{name}]`\n\n| key | default | allowed | |\n| --- | --- | --- | --- |\n"
                )
                .unwrap();
            }
            Part::Setting(Described {
                key,
                default,
                text,
                allowed,
            }) => {
                writeln!(page, "| `{key}` | `{default}` | {} | {} |", cell(&allowed), cell(&text)).unwrap();
            }
        }
    }
    page
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

fn variables() -> String {
    let mut table = "| variable | sets |\n| --- | --- |\n".to_owned();
    for (name, sets) in all_variables() {
        writeln!(table, "| `{name}` | {} |", cell(&sets)).unwrap();
    }
    table
}

#[test]
fn the_documentation_tells_of_every_setting_and_variable() {
    let page = fs_err::read_to_string(PAGE).unwrap();
    let written = between(&page, "settings", &(tables() + "\n"));
    let written = between(&written, "variables", &variables());
    if std::env::var_os("REMEMBRANCER_WRITE_DOCUMENTS").is_some() {
        return fs_err::write(PAGE, written).unwrap();
    }
    assert!(
        page == written,
        "docs/configuration.md is out of date: run this test with REMEMBRANCER_WRITE_DOCUMENTS=1, and read what it changed"
    );
}

/// `page` with `text` between the marks of `name`.
fn between(page: &str, name: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    format!("{before}{begin}{text}{end}{after}")
}
