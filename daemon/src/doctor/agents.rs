//! One agent: is the hook registered, switched on, trusted, the same version as this program, and does it do what it is for? Are its
//! transcripts read? The agent's folder and what is known of the daemon come in, checks go out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use remembrancer_hooks::clock::BUDGET;
use remembrancer_hooks::{Agent, PluginSign, VERSION};
use serde_json::Value;

use super::host::{self, Heard, Ran};
use super::{Check, Verdict};
use crate::install::{self, Refusal, Registered, StatusLine, Wanted, longer_limit, registered, status_line, values};
use crate::plural::{all, counted};
use crate::system;

/// An agent on this machine.
pub(crate) struct Examined<'a> {
    /// Which.
    pub agent: Agent,
    /// The folder of its settings.
    pub folder: PathBuf,
    /// The hook that belongs to this program.
    pub hook: &'a Path,
    /// Whether the daemon runs, in this program's version: another would take a probe for a prompt.
    pub answers_probes: bool,
    /// A folder to fire the hook in.
    pub cwd: &'a str,
}

/// What was found of an agent's transcripts.
pub(crate) struct Transcripts {
    /// The folders that exist.
    pub folders: Vec<PathBuf>,
    /// How many there are.
    pub found: usize,
    /// How many of them the memory knows.
    pub read: usize,
    /// What can't be read, and what to do.
    pub problems: Vec<String>,
}

impl Examined<'_> {
    /// Everything about the hook.
    pub(crate) fn hook(&self) -> Vec<Check> {
        let entries = match registered(&self.folder, self.agent) {
            Ok(entries) => entries,
            Err(problem) => return vec![self.failed(format!("its settings are not valid: {problem}"), "correct it there")],
        };
        let mut checks = vec![self.registration(&entries)];
        checks.extend(self.doubled(&entries));
        checks.extend(self.switched_off());
        checks.extend(self.status_line());
        if !entries.is_empty() {
            checks.extend(self.trust(&entries));
            let is_run = checks.iter().all(|check| check.verdict != Verdict::Failed);
            checks.extend(self.entries(&entries));
            checks.extend(self.breaches(&entries));
            checks.extend(self.programs(&entries));
            checks.extend(self.played(&entries, is_run));
        }
        checks
    }

    fn registration(&self, entries: &[Registered]) -> Check {
        if entries.is_empty() {
            return if self.has_plugin() {
                self.ok("the hook comes by the plugin; what the plugin runs is not looked at")
            } else {
                self.failed("the hook is not registered", self.install())
            };
        }
        let is_there = |event: &str| entries.iter().any(|entry| entry.event == event);
        let events: Vec<&str> = self.agent.events().map(|(event, _)| event).collect();
        let missing: Vec<&str> = events.iter().copied().filter(|event| !is_there(event)).collect();
        let files: BTreeSet<String> = entries.iter().map(|entry| entry.file.display().to_string()).collect();
        let files = Vec::from_iter(files).join(", ");
        if missing.is_empty() {
            self.ok(format!("registered for {} in {files}", events.join(", ")))
        } else {
            self.failed(
                format!("not registered for {} in {files}", missing.join(", ")),
                self.install(),
            )
        }
    }

    /// What in an entry keeps it from doing what it is for.
    fn entries(&self, entries: &[Registered]) -> Vec<Check> {
        let mut checks = Vec::new();
        for entry in entries {
            let (event, file) = (&entry.event, entry.file.display());
            let Some((_, sources)) = self.agent.events().find(|(name, _)| name == event) else {
                let found = format!("{event}: the hook does nothing at this event, for which {file} has an entry");
                checks.push(self.warning(found, self.install()));
                continue;
            };
            // Whoever names none is taken for the first of all agents.
            let named = entry.names.as_deref().unwrap_or(Agent::CLAUDE_CODE.id());
            if named != self.agent.id() {
                let found = format!("{event}: the command in {file} is for an agent `{named}`");
                checks.push(self.failed(
                    found,
                    format!("write `--agent {}` there, or {}", self.agent.id(), self.install()),
                ));
            }
            if !entry.is_in_place {
                let found = format!("{event}: the entry in {file} does not stand where {} looks", self.name());
                checks.push(self.failed(found, self.install()));
            }
            let missed: Vec<&str> = sources.iter().copied().filter(|source| !entry.is_run_for(source)).collect();
            if !missed.is_empty() {
                let found = format!("{event}: the entry in {file} is not run for {}", missed.join(", "));
                checks.push(self.failed(
                    found,
                    format!("set its matcher to `{}`, or {}", sources.join("|"), self.install()),
                ));
            }
            if let Some(limit) = entry.limit
                && let Some(own) = longer_limit(self.agent, limit)
            {
                let found = format!(
                    "{event}: {} {limit} in {file} ends the hook before its {} ms are over",
                    own.key,
                    BUDGET.as_millis()
                );
                checks.push(self.failed(found, format!("set it to {}, or {}", own.count, self.install())));
            }
        }
        checks
    }

    /// What stands around the hook in a command, and breaks a promise of it, or may keep an entry from being run. That is its user's to
    /// correct.
    fn breaches(&self, entries: &[Registered]) -> Vec<Check> {
        let of_entry = |entry: &Registered| {
            let of_breach = |breach| {
                let remedy = format!("correct the command in {}", entry.file.display());
                self.warning(format!("{}: {breach}", entry.event), remedy)
            };
            let mut checks = entry.breaches.iter().map(of_breach).collect::<Vec<_>>();
            checks.extend(self.unsure(entry));
            checks
        };
        entries.iter().flat_map(of_entry).collect()
    }

    /// A matcher of which can't be told whether it stands for all sources for which the entry is to be run.
    fn unsure(&self, entry: &Registered) -> Option<Check> {
        let (_, sources) = self.agent.events().find(|(name, _)| *name == entry.event)?;
        let expression = entry.expression().filter(|_| !sources.is_empty())?;
        let found = format!(
            "{}: the matcher `{expression}` in {} is an expression, of which can't be told whether it stands for {}",
            entry.event,
            entry.file.display(),
            sources.join(", ")
        );
        Some(self.warning(found, format!("see that it does, or set it to `{}`", sources.join("|"))))
    }

    /// What is wrong with the entries of the hook that `install` mends, in one line; `None` where there are none of either.
    pub(crate) fn wrong_entries(&self) -> Option<String> {
        let entries = registered(&self.folder, self.agent)
            .ok()
            .filter(|entries| !entries.is_empty())?;
        let mut checks = vec![self.registration(&entries)];
        checks.extend(self.twice(&entries));
        checks.extend(self.entries(&entries));
        checks.extend(self.programs(&entries));
        let wrong = checks.into_iter().filter(|check| check.verdict != Verdict::Ok);
        let wrong: Vec<String> = wrong.map(|check| check.found).collect();
        (!wrong.is_empty()).then(|| wrong.join("; "))
    }

    fn doubled(&self, entries: &[Registered]) -> Option<Check> {
        let of_plugin = || {
            let remedy = format!(
                "switch the plugin off, or run `remembrancer uninstall --agent {}`",
                self.agent.id()
            );
            self.warning("the hook is run twice, by the plugin and by the settings", remedy)
        };
        let by_plugin = || (!entries.is_empty() && self.has_plugin()).then(of_plugin);
        self.twice(entries).or_else(by_plugin)
    }

    fn twice(&self, entries: &[Registered]) -> Option<Check> {
        let of = |event: &str| entries.iter().filter(|entry| entry.event == event).count();
        let entry = entries.iter().find(|entry| of(&entry.event) > 1)?;
        let found = format!("{} has {} entries of the hook", entry.event, of(&entry.event));
        let remedy = format!("remove all but one in {}, or {}", entry.file.display(), self.install());
        Some(self.warning(found, remedy))
    }

    fn has_plugin(&self) -> bool {
        match &self.agent.host_side().plugin {
            None => false,
            Some(PluginSign::Folder(folder)) => self.folder.join(folder).is_dir(),
            Some(PluginSign::Listed { file, key }) => {
                let settings = values(&self.folder.join(file)).ok().flatten().unwrap_or_default();
                let is_on = |value: &Value| *value == Value::Bool(true) || value.is_object() && value["enabled"] != false;
                let is_ours = |(name, value): (&String, &Value)| name.starts_with("remembrancer@") && is_on(value);
                settings[*key].as_object().is_some_and(|plugins| plugins.iter().any(is_ours))
            }
        }
    }

    fn switched_off(&self) -> Vec<Check> {
        let found = switched_off(self.agent, &self.folder).into_iter();
        found.map(|(found, remedy)| self.failed(found, remedy)).collect()
    }

    /// A status line of ours; of another nothing is said.
    fn status_line(&self) -> Option<Check> {
        let Ok(StatusLine::Ours(program)) = status_line(&self.folder, self.agent)? else {
            return None;
        };
        // One without a folder is found by the host's shell, if it is.
        Some(if program.contains('/') && !Path::new(&program).is_file() {
            let found = format!("the status line names {program}, which is not there");
            let remedy = format!("run `remembrancer install --agent {} --status-line`", self.agent.id());
            self.warning(found, remedy)
        } else {
            self.ok(format!("the status line runs {program}"))
        })
    }

    /// A host that asks notes for each entry, by file, event and place, what its user said. The hash of what was trusted is not made
    /// again here: only the host can say that an entry has not changed since.
    fn trust(&self, entries: &[Registered]) -> Option<Check> {
        let file = self.folder.join(self.agent.host_side().trusted_in?);
        let settings = values(&file).ok().flatten().unwrap_or_default();
        let state = &settings["hooks"]["state"];
        let is_trusted = |entry: &&Registered| {
            let state = &state[&trust_key(entry)];
            state["trusted_hash"].is_string() && state["enabled"] != false
        };
        let trusted = entries.iter().filter(is_trusted).count();
        Some(if trusted == entries.len() {
            self.ok(format!(
                "{} trusted in {}",
                all(trusted as u64, "entry is", "entries are"),
                file.display()
            ))
        } else {
            let found = format!(
                "{} of {} not trusted, and are not run",
                entries.len() - trusted,
                counted(entries.len() as u64, "entry are", "entries are")
            );
            self.failed(found, format!("start {}, and say yes to them in `/hooks`", self.name()))
        })
    }

    /// Each program that is registered, once.
    fn programs(&self, entries: &[Registered]) -> Vec<Check> {
        each_once(entries).map(|entry| self.program(entry)).collect()
    }

    fn program(&self, entry: &Registered) -> Check {
        let (program, install) = (&entry.program, self.install());
        match host::version(entry) {
            Ran::Wrote { stdout, .. } if stdout.trim() == format!("remembrancer-hook {VERSION}") => {
                self.ok(format!("{program} is version {VERSION}, as this program"))
            }
            Ran::Wrote { stdout, .. } => {
                let said = stdout.lines().next().unwrap_or("nothing");
                let found = format!("{program} is another version ({said}) than this program's {VERSION}");
                self.failed(found, format!("{install}, which names {}", self.hook.display()))
            }
            Ran::NotExecutable => self.failed(format!("{program}: it may not be run"), format!("run `chmod +x {program}`")),
            broken => self.failed(format!("{program}: {}", why_not(&broken)), install),
        }
    }

    /// Plays the host, which itself may run no hooks as it is set up now.
    fn played(&self, entries: &[Registered], is_run: bool) -> Option<Check> {
        let event = self.agent.answered_event()?;
        let entry = entries.iter().find(|entry| entry.event == event)?;
        if !self.answers_probes {
            let found = format!("{event} could not be played: no daemon of this version answers");
            return Some(self.failed(found, "see `daemon` above"));
        }
        let name = self.name();
        let sees = if is_run { "sees" } else { "would see" };
        Some(match host::fire(entry, self.agent, self.cwd) {
            Heard::Answer { took } if host::is_in_time(took) => self.ok(format!(
                "played {event}: the answer came in {} ms of {}, in the shape that {name} takes; the model {sees} it",
                took.as_millis(),
                BUDGET.as_millis()
            )),
            Heard::Answer { took } => {
                let found = format!(
                    "played {event}: the model {sees} the answer, but only after {} ms",
                    took.as_millis()
                );
                self.warning(found, "see whether the machine is busy, and run this again")
            }
            Heard::Nothing { took } => {
                let found = format!("played {event}: nothing came back, after {} ms", took.as_millis());
                self.failed(
                    found,
                    "see that the hook finds the daemon (REMEMBRANCER_SOCKET), and run this again in half a minute",
                )
            }
            Heard::Another => self.failed(
                format!("played {event}: what came back is not the daemon's answer"),
                "see what the registered command runs",
            ),
            Heard::Refused => self.failed(
                format!("played {event}: {name} would refuse what came back"),
                "see that the registered command writes nothing of its own",
            ),
            Heard::Broken(broken) => self.failed(format!("played {event}: {}", why_not(&broken)), self.install()),
        })
    }

    /// What became of the transcripts.
    pub(crate) fn transcripts(&self, transcripts: &Transcripts) -> Vec<Check> {
        let mut checks: Vec<Check> = transcripts
            .problems
            .iter()
            .map(|problem| self.warning(problem, "then run this again"))
            .collect();
        let Transcripts {
            folders, found, read, ..
        } = transcripts;
        let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        checks.push(if folders.is_empty() {
            self.ok("no transcripts yet")
        } else if read < found {
            self.warning(
                format!("{read} of {found} transcripts in {} are read", names.join(", ")),
                "wait for `remembrancer status --flush`; it names what can't be read",
            )
        } else {
            self.ok(format!(
                "{} read, in {}",
                all(*found as u64, "transcript is", "transcripts are"),
                names.join(", ")
            ))
        });
        checks
    }

    /// What to do: have it set up, or correct what keeps `install` from it.
    fn install(&self) -> String {
        let hook = self.hook.to_string_lossy();
        match install::install(&self.folder, self.agent, Wanted::hook(&hook), system::user_id()) {
            Err(refusal @ Refusal::Invalid { .. }) => {
                format!("correct what `install` would refuse: {refusal}")
            }
            _ => format!("run `remembrancer install --agent {}`", self.agent.id()),
        }
    }

    fn name(&self) -> &'static str {
        self.agent.registration().name
    }

    fn ok(&self, found: impl Into<String>) -> Check {
        Check::ok(self.agent.id(), found)
    }

    fn warning(&self, found: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check::warning(self.agent.id(), found, remedy)
    }

    fn failed(&self, found: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check::failed(self.agent.id(), found, remedy)
    }
}

/// What in the settings in `folder` has the host run no hooks at all, each with its remedy.
pub(crate) fn switched_off(agent: Agent, folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for switch in agent.host_side().off_switches {
        let file = folder.join(switch.file);
        let Some(settings) = values(&file).ok().flatten() else {
            continue;
        };
        let value = switch.path.iter().fold(&settings, |value, key| &value[*key]);
        if *value == Value::Bool(switch.off) {
            let found = format!(
                "{} runs no hooks: {} has {} = {}",
                agent.registration().name,
                file.display(),
                switch.path.join("."),
                switch.off
            );
            all.push((found, format!("set it to {}", !switch.off)));
        }
    }
    all
}

/// Of the entries that are run by the same command, the first.
fn each_once(entries: &[Registered]) -> impl Iterator<Item = &Registered> {
    let mut seen = BTreeSet::new();
    entries.iter().filter(move |&entry| {
        let command = &entry.asks_version;
        seen.insert((command.text.clone(), command.arguments.clone()))
    })
}

/// `<file>:<event in snake_case>:<group>:<handler>`, the name under which Codex keeps what was said of an entry.
fn trust_key(entry: &Registered) -> String {
    let mut event = String::new();
    for c in entry.event.chars() {
        if c.is_ascii_uppercase() && !event.is_empty() {
            event.push('_');
        }
        event.push(c.to_ascii_lowercase());
    }
    let (group, handler) = entry.place;
    format!("{}:{event}:{group}:{handler}", entry.file.display())
}

fn why_not(ran: &Ran) -> String {
    match ran {
        Ran::NotThere => "there is no such program".to_owned(),
        Ran::NotExecutable => "it may not be run".to_owned(),
        Ran::Failed(reason) => reason.clone(),
        Ran::Wrote { .. } => "it runs".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examined(folder: &Path) -> Examined<'_> {
        Examined {
            agent: Agent::CODEX,
            folder: folder.to_owned(),
            hook: Path::new("/opt/remembrancer-hook"),
            answers_probes: false,
            cwd: "/",
        }
    }

    #[test]
    fn an_entry_is_trusted_under_its_file_event_and_place() {
        let folder = tempfile::tempdir().unwrap();
        let entry = Registered {
            file: folder.path().join("hooks.json"),
            place: (1, 0),
            ..Registered::of_line("remembrancer-hook")
        };
        let verdict = |state: &str| {
            let text = format!(
                "[hooks.state.\"{}/hooks.json:user_prompt_submit:1:0\"]\n{state}\n",
                folder.path().display()
            );
            fs_err::write(folder.path().join("config.toml"), text).unwrap();
            examined(folder.path()).trust(std::slice::from_ref(&entry)).unwrap().verdict
        };
        assert_eq!(verdict("trusted_hash = \"sha256:0\""), Verdict::Ok);
        assert_eq!(verdict("trusted_hash = \"sha256:0\"\nenabled = false"), Verdict::Failed);
        assert_eq!(verdict(""), Verdict::Failed);
    }

    #[test]
    fn settings_that_install_would_refuse_are_named_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        assert!(examined(folder.path()).install().starts_with("run `remembrancer install"));
        let text = "{\n  \"hooks\": {\n    \"UserPromptSubmit\": \"nope\"\n  }\n}\n";
        fs_err::write(folder.path().join("hooks.json"), text).unwrap();
        let remedy = examined(folder.path()).hook().remove(0).remedy.unwrap();
        assert!(
            remedy.contains("hooks.json:3:") && !remedy.contains("run `remembrancer install"),
            "{remedy}"
        );
    }

    #[test]
    fn hooks_that_are_switched_off_are_told_with_the_switch() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(switched_off(Agent::CODEX, folder.path()), []);
        fs_err::write(folder.path().join("config.toml"), "[features]\nhooks = false\n").unwrap();
        let told = switched_off(Agent::CODEX, folder.path());
        assert!(told[0].0.contains("features.hooks = false"), "{told:?}");
    }

    #[test]
    fn a_plugin_is_on_or_off() {
        let folder = tempfile::tempdir().unwrap();
        let is_on = |text: &str| {
            fs_err::write(folder.path().join("config.toml"), text).unwrap();
            examined(folder.path()).has_plugin()
        };
        assert!(is_on("[plugins.\"remembrancer@remembrancer\"]\n"));
        assert!(!is_on("[plugins.\"remembrancer@remembrancer\"]\nenabled = false\n"));
        assert!(!is_on("[plugins.\"other@remembrancer\"]\n"));
    }

    #[test]
    fn a_program_behind_the_same_one_is_asked_by_itself() {
        let behind_env = |hook: &str| {
            let mut entry = Registered::of_line("env");
            entry.asks_version.arguments = Some(vec![hook.to_owned(), "--version".to_owned()]);
            entry
        };
        let entries = [
            behind_env("/a/remembrancer-hook"),
            behind_env("/b/remembrancer-hook"),
            behind_env("/a/remembrancer-hook"),
        ];
        assert_eq!(each_once(&entries).count(), 2);
    }

    #[test]
    fn a_matcher_that_is_an_expression_is_told_and_is_no_fault_to_mend() {
        let folder = tempfile::tempdir().unwrap();
        let of = |matcher: &str| Registered {
            event: "SessionStart".to_owned(),
            matcher: Some(matcher.to_owned()),
            names: Some("codex".to_owned()),
            ..Registered::of_line("remembrancer-hook --agent codex")
        };
        let told = |matcher: &str| {
            let entries = [of(matcher)];
            let examined = examined(folder.path());
            (examined.entries(&entries).len(), examined.breaches(&entries).len())
        };
        assert_eq!(told("compact|resume"), (0, 0));
        assert_eq!(told("^(compact|resume)$"), (0, 1));
        assert_eq!(told("startup"), (1, 0));
    }
}
