//! The page of the settings. The shipped defaults come in, a page for `man` goes out: the comments are its text.

use clap_mangen::roff::{Roff, bold, roman};

use crate::config::DEFAULT_TOML;

/// The page's name: the fifth section has the formats of files.
pub(super) const FILE: &str = "remembrancer-config.5";

/// The page.
pub(super) fn render() -> String {
    page(DEFAULT_TOML).to_roff()
}

/// What `settings` say, as it stands in the default file: comments first, then what they are about.
fn page(settings: &str) -> Roff {
    let source = format!("remembrancer {}", remembrancer_hooks::VERSION);
    let mut roff = Roff::new();
    roff.control("TH", ["remembrancer-config", "5", "", &source]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(
        "remembrancer-config - the settings of remembrancer, with their defaults",
    )]);
    roff.control("SH", ["DESCRIPTION"]);
    let mut comment: Vec<&str> = Vec::new();
    for line in settings.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
        } else if let Some(table) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            roff.control("SH", [format!("[{table}]").as_str()]);
        } else if let Some((key, value)) = line.split_once(" = ") {
            roff.control("TP", []);
            roff.text([bold(key), roman(format!(" = {value}"))]);
            roff.text([roman(std::mem::take(&mut comment).join(" "))]);
        } else if !comment.is_empty() {
            roff.text([roman(std::mem::take(&mut comment).join(" "))]);
        }
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold("remembrancer"), roman("(1)")]);
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_before_what_they_are_about() {
        let page = page("# All of\n# it.\n\n[recall]\n# Shown at most.\ntop = 3\n").to_roff();
        let text = page.split_once("DESCRIPTION\n").unwrap().1;
        assert_eq!(
            text,
            "All of it.\n.SH [recall]\n.TP\n\\fBtop\\fR = 3\nShown at most.\n.SH \"SEE ALSO\"\n\\fBremembrancer\\fR(1)\n"
        );
    }

    #[test]
    fn every_setting_is_on_the_page() {
        let page = render();
        let keys = DEFAULT_TOML
            .lines()
            .filter_map(|line| line.split_once(" = "))
            .filter(|(key, _)| !key.starts_with('#'));
        for (key, _) in keys {
            assert!(page.contains(&format!("\\fB{key}\\fR")), "{key}");
        }
    }
}
