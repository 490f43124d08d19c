//! Examples of every command, as its help shows them; a test reads each as a command line.

use clap::Command;

/// A command by its name, and its examples: what is typed, and what it is for.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "try",
        &[
            ("remembrancer try", "with your own transcripts"),
            ("remembrancer try --samples", "with the samples that come with the program"),
        ],
    ),
    ("run", &[("remembrancer run", "in a terminal; ctrl-c ends it")]),
    (
        "install",
        &[
            ("remembrancer install --dry-run", "look first"),
            (
                "remembrancer install --service",
                "the hook in all agents, and the daemon at every login",
            ),
            ("remembrancer install --agent codex --yes", "one agent, without a question"),
        ],
    ),
    (
        "uninstall",
        &[(
            "remembrancer uninstall --service",
            "the hook and the service; the memory stays",
        )],
    ),
    (
        "instruct",
        &[
            ("remembrancer instruct --agent windsurf", "for this project"),
            ("remembrancer instruct --list", "which files hold it"),
            ("remembrancer instruct --remove", "take it out again"),
        ],
    ),
    (
        "recall",
        &[(
            "remembrancer recall \"why does the build hang?\"",
            "what that prompt would be reminded of",
        )],
    ),
    (
        "why",
        &[("remembrancer why", "the candidates of the last prompt, and why each fell")],
    ),
    (
        "search",
        &[
            ("remembrancer search deadlock in the view", "by words and by meaning"),
            (
                "remembrancer search halfUp --mode lexical --since 30d",
                "by words alone, of the last month",
            ),
        ],
    ),
    (
        "show",
        &[
            ("remembrancer show 2b3c49c9", "one memory"),
            ("remembrancer show 2b3c49c9 --session", "the conversation around it"),
        ],
    ),
    (
        "timeline",
        &[
            (
                "remembrancer timeline --project kiosk --since 7d",
                "what was asked there this week",
            ),
            ("remembrancer timeline --around 2b3c49c9", "what was asked before and after"),
        ],
    ),
    ("sessions", &[("remembrancer sessions --agent codex", "those of one agent")]),
    (
        "last",
        &[("remembrancer last", "what matched, and the command that silences it")],
    ),
    (
        "explain",
        &[
            ("remembrancer explain", "the latest prompt"),
            ("remembrancer explain --list", "the latest prompts, with their numbers"),
            (
                "remembrancer explain \"why does the build hang?\"",
                "a new prompt, which leaves no trace",
            ),
        ],
    ),
    (
        "status",
        &[(
            "remembrancer status --flush",
            "once all that stands in the transcripts is read",
        )],
    ),
    ("stats", &[("remembrancer stats", "on one screen")]),
    ("audit", &[("remembrancer audit --within 10m", "a large memory needs longer")]),
    (
        "logs",
        &[("remembrancer logs --follow --level warn", "what goes wrong, as it happens")],
    ),
    (
        "config",
        &[
            ("remembrancer config", "every setting, and where it comes from"),
            ("remembrancer config edit", "change them"),
        ],
    ),
    (
        "doctor",
        &[
            ("remembrancer doctor", "look"),
            ("remembrancer doctor --fix --dry-run", "what would be mended"),
        ],
    ),
    (
        "eval",
        &[(
            "remembrancer eval ~/sets/scifact --compare rrf,default",
            "the second profile against the first",
        )],
    ),
    ("pause", &[("remembrancer pause --for 2h", "then it goes on by itself")]),
    (
        "exclude",
        &[
            ("remembrancer exclude ~/clients", "that folder, and all below it"),
            ("remembrancer exclude --list", "what is kept out"),
        ],
    ),
    (
        "include",
        &[("remembrancer include ~/clients", "what is stored of it is back")],
    ),
    (
        "remember",
        &[
            (
                "remembrancer remember \"Deploys go out on Tuesdays only.\"",
                "of this project",
            ),
            ("remembrancer remember --everywhere \"I use British spelling.\"", "of all"),
        ],
    ),
    (
        "mute",
        &[
            ("remembrancer mute 2b3c49c9", "not this one again"),
            ("remembrancer mute --list", "what is muted"),
        ],
    ),
    ("unmute", &[("remembrancer unmute 2b3c49c9", "may be recalled again")]),
    ("boost", &[("remembrancer boost 2b3c49c9", "counts as important")]),
    ("unboost", &[("remembrancer unboost 2b3c49c9", "counts as any other")]),
    (
        "forget",
        &[
            ("remembrancer forget 2b3c49c9", "one turn"),
            ("remembrancer forget --last 15m", "what was just said"),
            (
                "remembrancer forget --project kiosk --before 2026-01-01 --dry-run",
                "look first",
            ),
        ],
    ),
    (
        "export",
        &[
            ("remembrancer export memory.jsonl", "all, for `import`"),
            ("remembrancer export --project kiosk --format markdown | less", "to read"),
        ],
    ),
    ("import", &[("remembrancer import memory.jsonl --dry-run", "look first")]),
    (
        "backup",
        &[
            ("remembrancer backup", "beside the daemon's own"),
            ("remembrancer backup /mnt/stick/memory.db", "elsewhere"),
        ],
    ),
    ("restore", &[("remembrancer restore --latest", "with the daemon stopped")]),
    #[cfg(feature = "share")]
    (
        "share",
        &[
            ("remembrancer share status", "connected or not, and what waits"),
            ("remembrancer share projects", "what a pattern may name, and what is shared"),
            (
                "remembrancer share forget --project github.com/acme/app",
                "take back what you shared of it",
            ),
            ("remembrancer share export team.jsonl --team", "all that the team shares"),
            ("remembrancer share leave", "share no more with the team"),
            (
                "remembrancer share add-member ada --team acme --url-file ~/owner.url",
                "for who runs the server",
            ),
        ],
    ),
    ("mcp", &[("remembrancer mcp", "as a host starts it; it ends with its input")]),
    (
        "serve",
        &[
            ("remembrancer serve --open", "in your browser, until Ctrl-C"),
            ("remembrancer serve --port 7878", "always on the same port"),
        ],
    ),
    (
        "completions",
        &[(
            "remembrancer completions zsh > ~/.zfunc/_remembrancer",
            "where `fpath` names ~/.zfunc",
        )],
    ),
];

/// `command` with the examples of its commands in their help.
pub(super) fn added(command: Command) -> Command {
    EXAMPLES.iter().fold(command, |command, (name, examples)| {
        command.mut_subcommand(name, |inner| {
            let before = inner.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
            inner.after_help(format!("{before}Examples:\n{}", told(examples)))
        })
    })
}

/// The command lines of all examples.
#[cfg(test)]
pub(super) fn lines() -> impl Iterator<Item = &'static str> {
    EXAMPLES
        .iter()
        .flat_map(|(_, examples)| examples.iter().map(|(line, _)| *line))
}

fn told(examples: &[(&str, &str)]) -> String {
    let told = examples.iter().map(|(line, what)| format!("  {line}\n      {what}"));
    told.collect::<Vec<_>>().join("\n")
}
