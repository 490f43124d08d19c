//! The page of the settings. What `config` tells of each comes in, a page for `man` goes out.

use clap_mangen::roff::{Roff, bold, italic, roman};

use crate::config::{Described, Part, reference};

/// The page's name: the fifth section has the formats of files.
pub(super) const FILE: &str = "remembrancer-config.5";

/// The page.
pub(super) fn render() -> String {
    page(&reference()).to_roff()
}

fn page(parts: &[Part]) -> Roff {
    let source = format!("remembrancer {}", remembrancer_hooks::VERSION);
    let mut roff = Roff::new();
    roff.control("TH", ["remembrancer-config", "5", "", &source]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(
        "remembrancer-config - the settings of remembrancer, with their defaults",
    )]);
    roff.control("SH", ["DESCRIPTION"]);
    for part in parts {
        match part {
            Part::Text(text) => {
                roff.text([roman(text.as_str())]);
            }
            Part::Table(name) => {
                roff.control("SH", [format!("[{name}]").as_str()]);
            }
            Part::Setting(setting) => add(&mut roff, setting),
        }
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold("remembrancer"), roman("(1)")]);
    roff
}

fn add(roff: &mut Roff, setting: &Described) {
    roff.control("TP", []);
    roff.text([bold(setting.key), roman(format!(" = {}", setting.default))]);
    roff.text([roman(setting.text.as_str())]);
    roff.control("br", []);
    roff.text([italic("Allowed"), roman(format!(": {}", setting.allowed))]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DEFAULT_TOML;

    #[test]
    fn a_setting_has_its_text_and_what_is_allowed() {
        let setting = Described {
            key: "top",
            default: "3",
            text: "Shown at most.".to_owned(),
            allowed: "choose 1 to 10".to_owned(),
        };
        let parts = [
            Part::Text("All of it.".to_owned()),
            Part::Table("recall"),
            Part::Setting(setting),
        ];
        let page = page(&parts).to_roff();
        let text = page.split_once("DESCRIPTION\n").unwrap().1;
        assert_eq!(
            text,
            "All of it.\n.SH [recall]\n.TP\n\\fBtop\\fR = 3\nShown at most.\n.br\n\\fIAllowed\\fR: choose 1 to 10\n.SH \"SEE ALSO\"\n\\fBremembrancer\\fR(1)\n"
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
