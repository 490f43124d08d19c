use std::cell::RefCell;
use std::collections::BTreeMap;

use super::*;

/// Variables that say how something is shown or done here, of which `config` has nothing to tell.
const OF_THE_SYSTEM: [(&str, &str); 6] = [
    ("HOME", "your home folder"),
    ("NO_COLOR", "nothing to stand out on the terminal, unless it is empty"),
    ("TERM", "the same where it is `dumb`"),
    ("COLUMNS", "the width of a terminal's lines"),
    ("VISUAL", "the editor of `remembrancer config edit`"),
    ("EDITOR", "the same where VISUAL is not set; `vi` where neither is"),
];

/// Our own first, then those of the agents by their names.
pub(super) fn all_variables() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = VARIABLES
        .iter()
        .chain(&OF_THE_SYSTEM)
        .map(|(name, sets)| ((*name).to_owned(), (*sets).to_owned()))
        .collect();
    let mut of_agents: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for agent in Agent::ALL {
        for name in asked_for(*agent) {
            of_agents.entry(name).or_default().push(agent.name());
        }
    }
    for agent in remembrancer_hooks::Agent::ALL {
        let registration = agent.registration();
        if let Some(name) = registration.folder_variable {
            of_agents.entry(name.to_owned()).or_insert_with(|| vec![registration.name]);
        }
    }
    let known: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    let of_agents = of_agents.into_iter().filter(|(name, _)| !known.contains(name));
    all.extend(of_agents.map(|(name, agents)| (name, format!("where {} keeps its files", agents.join(" and ")))));
    all
}

/// The variables by which the folders of an agent are found.
fn asked_for(agent: Agent) -> Vec<String> {
    let asked = RefCell::new(Vec::new());
    let variable = |name: &str| {
        asked.borrow_mut().push(name.to_owned());
        None
    };
    let home = Home {
        folder: Path::new("/home/ada"),
        variable: &variable,
    };
    agent.folders(&home);
    agent.flat_folders(&home);
    asked.into_inner()
}

/// `"NAME"` in a source, where it is one of a variable.
fn names_in(source: &str) -> impl Iterator<Item = &str> {
    let is_name = |word: &&str| {
        word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()) && !word.starts_with('_')
    };
    source.split('"').skip(1).step_by(2).filter(is_name)
}

#[test]
fn no_variable_is_read_that_the_documentation_does_not_name() {
    let all = all_variables();
    let sources = [
        include_str!("../surroundings.rs"),
        include_str!("../../../../hooks/src/environment.rs"),
    ];
    let mut found = 0;
    for name in sources.into_iter().flat_map(names_in) {
        found += 1;
        assert!(all.iter().any(|(known, _)| known == name), "{name}");
    }
    assert!(found > 10, "{found} variables were found");
    assert!(
        all.iter()
            .any(|(name, sets)| name == "CODEX_HOME" && sets == "where Codex keeps its files"),
        "{all:?}"
    );
}
