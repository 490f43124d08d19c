//! Settings that are valid and that make no sense together, or come to nothing: told by `doctor` and `config check`, and followed as they
//! stand.

use super::{Config, PageServing, Transcripts};
use crate::page;

impl Config {
    /// Each contradiction, with what to do. They are followed all the same: what leaves out goes before what adds.
    pub(crate) fn contradictions(&self) -> Vec<(String, String)> {
        let Transcripts {
            folders,
            usual_folders,
            without,
            exclude,
            newest: _,
            rescan: _,
        } = &self.transcripts;
        let mut found = Vec::new();
        for agent in without {
            if folders.iter().any(|root| root.agent == *agent) {
                let id = agent.id();
                let contradiction = format!(
                    "`transcripts.folders` names folders of {id}, and `transcripts.without` leaves {id} out: they are not read"
                );
                found.push((contradiction, format!("take {id} out of one of them")));
            }
        }
        for root in folders {
            if let Some(path) = exclude.iter().find(|path| root.folder.starts_with(path)) {
                let contradiction = format!(
                    "`transcripts.folders` names {}, and `transcripts.exclude` leaves {} out: it is not read",
                    root.folder.display(),
                    path.display()
                );
                found.push((contradiction, "take it out of one of them".to_owned()));
            }
        }
        if !usual_folders && folders.is_empty() {
            let contradiction =
                "`transcripts.usual_folders` is false, and `transcripts.folders` names none: nothing is read".to_owned();
            found.push((contradiction, "name folders, or set it to true".to_owned()));
        }
        if let Some(port) = self.page.port.filter(|port| page::is_bad(*port))
            && self.page.serve != PageServing::Socket
        {
            let contradiction =
                format!("`page.port` is {port}, which browsers refuse to open: the page could be served and not seen");
            found.push((contradiction, "choose another port, such as 7420".to_owned()));
        }
        if self.share_lacks_server {
            let contradiction =
                "`[share]` is set, and neither `share.url` nor `share.service` names a server: nothing is shared".to_owned();
            found.push((contradiction, "name the server, or take what is set there out".to_owned()));
        }
        if let Some(share) = &self.share
            && share.projects.is_empty()
        {
            let (contradiction, remedy) = if share.pull {
                (
                    "`share.projects` names none: nothing of this machine is shared",
                    "name projects, or \"*\" for all",
                )
            } else {
                (
                    "`share.projects` names none and `share.pull` is false: nothing is shared, and nothing is taken",
                    "name projects, set share.pull to true, or take `share.url` or `share.service` out",
                )
            };
            found.push((contradiction.to_owned(), remedy.to_owned()));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none("", &[])]
    #[case::others("folders = { codex = [\"/x\"] }\nwithout = [\"claude-code\"]\nexclude = [\"/x/y\"]", &[])]
    #[case::named_and_left_out("folders = { codex = [\"/x\"] }\nwithout = [\"codex\"]", &["folders of codex"])]
    #[case::named_and_excluded("folders = { codex = [\"/x/y\"] }\nexclude = [\"/x\"]", &["names /x/y"])]
    #[case::nothing_at_all("usual_folders = false", &["nothing is read"])]
    fn what_makes_no_sense_together_is_told(#[case] keys: &str, #[case] expected: &[&str]) {
        let text = format!("[transcripts]\n{keys}\n");
        let config = Config::parse(Path::new("config.toml"), &text, Path::new("/home/ada")).unwrap();
        let found = config.contradictions();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|((found, _), expected)| found.contains(expected)),
            "{found:?}"
        );
    }

    #[rstest]
    #[case::refused("port = 6000", 1)]
    #[case::refused_of_the_daemon("serve = \"port\"\nport = 6000", 1)]
    #[case::at_a_socket("serve = \"socket\"\nport = 6000", 0)]
    #[case::other("port = 7420", 0)]
    #[case::free("port = 0", 0)]
    fn a_port_that_browsers_refuse_is_told(#[case] keys: &str, #[case] expected: usize) {
        let config = Config::parse(Path::new("config.toml"), &format!("[page]\n{keys}\n"), Path::new("/home/ada")).unwrap();
        let found = config.contradictions();
        assert_eq!(found.len(), expected, "{found:?}");
        assert!(
            found.iter().all(|(found, _)| found.contains("`page.port` is 6000")),
            "{found:?}"
        );
    }

    #[rstest]
    #[case::not_shared("", &[])]
    #[case::headed_alone("# projects = [\"*\"]", &[])]
    #[case::as_by_default("url = \"\"\npull = true\ntls = \"verify\"", &[])]
    #[case::without_a_server("team = \"acme\"\nprojects = [\"*\"]", &["names a server: nothing is shared"])]
    #[case::a_file_for_no_server("password_file = \"~/password\"", &["names a server: nothing is shared"])]
    #[case::a_choice_for_no_server("remote = true", &["names a server: nothing is shared"])]
    #[case::named("url = \"postgres://ada@db/memory\"\nteam = \"acme\"\nprojects = [\"*\"]", &[])]
    #[case::none_named("url = \"postgres://ada@db/memory\"\nteam = \"acme\"", &["nothing of this machine is shared"])]
    #[case::nothing_at_all(
        "url = \"postgres://ada@db/memory\"\nteam = \"acme\"\npull = false",
        &["nothing is shared, and nothing is taken"]
    )]
    fn a_shared_store_that_nothing_goes_to_is_told(#[case] keys: &str, #[case] expected: &[&str]) {
        let config = Config::parse(
            Path::new("config.toml"),
            &format!("[share]\n{keys}\n"),
            Path::new("/home/ada"),
        )
        .unwrap();
        let found = config.contradictions();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|((found, _), expected)| found.contains(expected)),
            "{found:?}"
        );
    }
}
