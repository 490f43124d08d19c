//! The daemon: does it run, in this version, answer in time, at a socket that nobody else can reach, and started by whom? What was
//! learnt of it comes in, checks go out.

use std::path::Path;
use std::time::Duration;

use remembrancer_hooks::VERSION;
use remembrancer_hooks::clock::BUDGET;
use remembrancer_hooks::places::verify_private_folder;
use serde_json::Value;

use super::Check;
use crate::plural::counted;
use crate::system;

const DAEMON: &str = "daemon";

/// What the user's service manager says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// None answers.
    NoManager,
    /// It does not run the service.
    Stopped,
    /// It runs the service.
    Runs {
        /// Whether also while its user is not logged in, where that is known.
        lingers: Option<bool>,
    },
}

/// Who answers where `$REMEMBRANCER_SOCKET` is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    /// It is not set here either.
    Here,
    /// Nobody.
    Nobody,
    /// The daemon in this process.
    Process(u64),
}

/// What was learnt of the daemon.
#[derive(Debug)]
pub(crate) struct Running {
    /// Its answer to `ping` and the time that took; why there is none.
    pub ping: Result<(Value, Duration), String>,
    /// Its `status`, where it answered.
    pub status: Value,
    /// Whose socket this is.
    pub uid: u32,
    /// Who answers a program that is started without `$REMEMBRANCER_SOCKET`.
    pub without_variable: Elsewhere,
    /// What the service manager says.
    pub service: Service,
}

impl Running {
    /// Whether the daemon runs in this program's version.
    pub(crate) fn is_ours(&self) -> bool {
        self.ping.as_ref().is_ok_and(|(answer, _)| answer["version"] == VERSION)
    }

    /// What is right and wrong with it.
    pub(crate) fn checks(&self) -> Vec<Check> {
        let (answer, took) = match &self.ping {
            Ok(answered) => answered,
            Err(problem) => {
                let remedy = match self.service {
                    Service::Stopped => "run `remembrancer install --service`",
                    Service::NoManager => {
                        "start it with `remembrancer run`; where that names a process that runs already, stop that one first"
                    }
                    Service::Runs { .. } => "have the service started anew, and see its log",
                };
                return vec![Check::failed(DAEMON, problem, remedy)];
            }
        };
        let mut checks = vec![self.version(answer), in_time(*took)];
        checks.extend(
            self.status["daemon"]["socket"]
                .as_str()
                .map(|socket| self.socket(Path::new(socket))),
        );
        checks.extend(self.variable(answer));
        checks.push(self.service());
        checks.extend(self.health());
        checks
    }

    fn version(&self, answer: &Value) -> Check {
        let text = |value: &Value| value.as_str().unwrap_or("an unknown version").to_owned();
        if self.is_ours() {
            Check::ok(DAEMON, format!("runs in version {VERSION}, process {}", answer["pid"]))
        } else {
            let found = format!("runs in version {}, and this program is {VERSION}", text(&answer["version"]));
            Check::failed(DAEMON, found, "stop it, and start this version's")
        }
    }

    fn socket(&self, socket: &Path) -> Check {
        let shown = socket.display();
        let folder = socket.parent().unwrap_or(Path::new("/"));
        if verify_private_folder(folder, self.uid).is_err() {
            let remedy = format!("`chmod 700 {}`, and make it your own", folder.display());
            return Check::failed(DAEMON, format!("others can reach the folder of its socket {shown}"), remedy);
        }
        let is_private = fs_err::symlink_metadata(socket).is_ok_and(|metadata| {
            system::is_socket(&metadata) && system::owner(&metadata) == self.uid && system::mode(&metadata) & 0o777 == 0o600
        });
        if is_private {
            Check::ok(DAEMON, format!("its socket {shown} is yours alone"))
        } else {
            Check::failed(
                DAEMON,
                format!("its socket {shown} is not of mode 0600"),
                "start the daemon again",
            )
        }
    }

    fn variable(&self, answer: &Value) -> Option<Check> {
        let found = match self.without_variable {
            Elsewhere::Here => return None,
            Elsewhere::Process(pid) if answer["pid"] == pid => return None,
            Elsewhere::Process(pid) => format!("where REMEMBRANCER_SOCKET is not set, another daemon answers, process {pid}"),
            Elsewhere::Nobody => "where REMEMBRANCER_SOCKET is not set, no daemon is found".to_owned(),
        };
        let remedy = "unset it, or set it for your agents and for the service alike";
        Some(Check::warning(DAEMON, found, remedy))
    }

    fn service(&self) -> Check {
        match self.service {
            Service::NoManager => Check::ok(DAEMON, "no service manager of yours answers here; it is started by hand"),
            Service::Stopped => Check::warning(
                DAEMON,
                "it was started by hand, and ends with this session",
                "run `remembrancer install --service`",
            ),
            Service::Runs { lingers: Some(false) } => {
                Check::ok(DAEMON, "the service runs, as long as you are logged in (lingering is off)")
            }
            Service::Runs { .. } => Check::ok(DAEMON, "the service runs"),
        }
    }

    /// What it says of itself.
    fn health(&self) -> Vec<Check> {
        let status = &self.status;
        let mut checks = Vec::new();
        if let Some(until) = status["paused"].as_str() {
            checks.push(Check::warning(
                DAEMON,
                format!(
                    "it is paused, {}",
                    if until.starts_with("until") {
                        until.to_owned()
                    } else {
                        format!("until {until}")
                    }
                ),
                "run `remembrancer resume`",
            ));
        }
        let model = status["daemon"]["model"].as_str().unwrap_or_default();
        checks.push(match model.strip_prefix("none: ") {
            Some(reason) => {
                let found = format!("it recalls by words alone, without the model: {reason}");
                Check::warning(DAEMON, found, "correct `embedding` in the settings")
            }
            None if model == "loading" => Check::ok(DAEMON, "the model is being loaded; until then it recalls by words alone"),
            None => Check::ok(DAEMON, format!("the model {model} is loaded")),
        });
        for finding in status["health"]["why"].as_array().into_iter().flatten() {
            checks.extend(unwell(finding));
        }
        checks.extend(recalls(&status["recalls"]));
        for problem in status["problems"].as_array().into_iter().flatten() {
            let problem = problem.as_str().unwrap_or_default();
            checks.push(Check::warning(DAEMON, problem, "see its log"));
        }
        checks
    }
}

fn in_time(took: Duration) -> Check {
    let found = format!("answers in {:.1} ms", took.as_secs_f64() * 1_000.0);
    if took <= BUDGET {
        Check::ok(DAEMON, found)
    } else {
        Check::warning(DAEMON, found, "see whether the machine is busy")
    }
}

/// What it says of itself that another check does not tell already; to be behind is no fault.
fn unwell(finding: &Value) -> Option<Check> {
    let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let found = format!("{} {}: {}", text("part"), text("state"), text("why"));
    match text("state").as_str() {
        "stalled" => Some(Check::failed(DAEMON, found, "see its log, and start it again")),
        "degraded" if text("part") == "page" => {
            let remedy = "end what is there, or choose another port by `page.port` (`remembrancer config edit`) and start the daemon again";
            Some(Check::warning(DAEMON, found, remedy))
        }
        // What keeps sharing is tried, and told once.
        "degraded" if text("part") == "sharing" => None,
        "degraded" if !text("why").starts_with("by words alone") => Some(Check::warning(DAEMON, found, "see its log")),
        _ => None,
    }
}

/// The recalls since its start; none where there were none.
fn recalls(recalls: &Value) -> Option<Check> {
    let (p50, p99) = (recalls["p50_millis"].as_f64()?, recalls["p99_millis"].as_f64()?);
    let degraded: Vec<String> = recalls["degradations"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    let mut found = format!(
        "{} since its start, p50 {p50:.0} ms, p99 {p99:.0} ms",
        counted(recalls["count"].as_u64().unwrap_or_default(), "recall", "recalls")
    );
    if !degraded.is_empty() {
        found = format!("{found}; degraded: {}", degraded.join(", "));
    }
    Some(if Duration::from_secs_f64(p99 / 1_000.0) <= BUDGET {
        Check::ok(DAEMON, found)
    } else {
        Check::warning(DAEMON, found, "see whether the machine is busy, or the disk slow")
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::doctor::Verdict;

    fn running() -> Running {
        Running {
            ping: Ok((json!({"pid": 7, "version": VERSION}), Duration::from_millis(1))),
            status: json!({"daemon": {"model": "m"}, "problems": []}),
            uid: rustix::process::getuid().as_raw(),
            without_variable: Elsewhere::Here,
            service: Service::NoManager,
        }
    }

    fn worst(running: &Running) -> Verdict {
        running.checks().into_iter().map(|check| check.verdict).max().unwrap()
    }

    #[rstest]
    #[case::as_it_should_be(|_: &mut Running| {}, Verdict::Ok)]
    #[case::absent(|it: &mut Running| it.ping = Err("no daemon".to_owned()), Verdict::Failed)]
    #[case::old(|it: &mut Running| it.ping = Ok((json!({"pid": 7, "version": "0.0.1"}), Duration::ZERO)), Verdict::Failed)]
    #[case::slow(|it: &mut Running| it.ping.as_mut().unwrap().1 = Duration::from_secs(1), Verdict::Warning)]
    #[case::paused(|it: &mut Running| it.status["paused"] = "until resumed".into(), Verdict::Warning)]
    #[case::by_words_alone(|it: &mut Running| it.status["daemon"]["model"] = "none: no file".into(), Verdict::Warning)]
    #[case::behind(|it: &mut Running| it.status["health"] = json!({"why": [{"state": "behind", "part": "ingest", "why": "3 wait"}]}), Verdict::Ok)]
    #[case::degraded(|it: &mut Running| it.status["health"] = json!({"why": [{"state": "degraded", "part": "watcher", "why": "polls"}]}), Verdict::Warning)]
    #[case::sharing_is_tried_by_itself(|it: &mut Running| it.status["health"] = json!({"why": [{"state": "degraded", "part": "sharing", "why": "no member"}]}), Verdict::Ok)]
    #[case::stalled(|it: &mut Running| it.status["health"] = json!({"why": [{"state": "stalled", "part": "ingest", "why": "3 wait"}]}), Verdict::Failed)]
    #[case::a_problem(|it: &mut Running| it.status["problems"] = json!(["cannot read x"]), Verdict::Warning)]
    #[case::slow_recalls(|it: &mut Running| it.status["recalls"] = json!({"count": 3, "p50_millis": 9.0, "p99_millis": 300.0}), Verdict::Warning)]
    #[case::same_without_variable(|it: &mut Running| it.without_variable = Elsewhere::Process(7), Verdict::Ok)]
    #[case::another_without_variable(|it: &mut Running| it.without_variable = Elsewhere::Process(8), Verdict::Warning)]
    #[case::none_without_variable(|it: &mut Running| it.without_variable = Elsewhere::Nobody, Verdict::Warning)]
    #[case::by_hand(|it: &mut Running| it.service = Service::Stopped, Verdict::Warning)]
    #[case::until_logout(|it: &mut Running| it.service = Service::Runs { lingers: Some(false) }, Verdict::Ok)]
    #[case::open_socket(|it: &mut Running| it.status["daemon"]["socket"] = "/tmp/x.sock".into(), Verdict::Failed)]
    fn each_finding_has_its_verdict(#[case] change: fn(&mut Running), #[case] expected: Verdict) {
        let mut running = running();
        change(&mut running);
        assert_eq!(worst(&running), expected, "{:?}", running.checks());
        assert!(
            running
                .checks()
                .iter()
                .all(|check| (check.verdict == Verdict::Ok) == check.remedy.is_none())
        );
    }
}
