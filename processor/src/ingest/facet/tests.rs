use rstest::rstest;

use super::*;

#[rstest]
#[case::below("/home/ada/app/src/main.rs", Some("/home/ada/app"), "src/main.rs")]
#[case::trailing_slash("/home/ada/app/a.rs", Some("/home/ada/app/"), "a.rs")]
#[case::beside("/home/ada/application/a.rs", Some("/home/ada/app"), "/home/ada/application/a.rs")]
#[case::elsewhere("/etc/hosts", Some("/home/ada/app"), "/etc/hosts")]
#[case::no_folder("/etc/hosts", None, "/etc/hosts")]
#[case::windows("c:\\code\\app\\src\\a.ts", Some("C:\\code\\app"), "src/a.ts")]
#[case::spaces("/home/ada/my app/a b.md", Some("/home/ada/my app"), "a b.md")]
fn tc_44_paths_are_relative_below_the_folder(#[case] path: &str, #[case] cwd: Option<&str>, #[case] expected: &str) {
    assert_eq!(file(path, cwd), expected);
}

#[rstest]
#[case::plain("cargo test -p store", Some("cargo test -p store"))]
#[case::after_cd("cd /tmp/x && cargo build", Some("cargo build"))]
#[case::after_two("cd x; ls; npm run build", Some("npm run build"))]
#[case::trimmings("mise run lint 2>&1 | head -50", Some("mise run lint"))]
#[case::quiet("git tag --list 2>/dev/null", Some("git tag --list"))]
#[case::variables("RUST_LOG=debug cargo run", Some("RUST_LOG=debug cargo run"))]
#[case::first_line("python - <<'X'\nprint(1)\nX", Some("python - <<'X'"))]
#[case::comment("# build it\nmake all", Some("make all"))]
#[case::commit(
    "git add -A && git commit -m \"$(cat <<'EOF'\nMake the cache smaller\n\nIt was large.\nEOF\n)\"",
    Some("git commit -m \"Make the cache smaller\"")
)]
#[case::ls("ls -la", None)]
#[case::ls_quiet("ls -la 2>&1", None)]
#[case::cat("cat src/main.rs | head -5", None)]
#[case::echo("echo \"one; two && three\"", None)]
#[case::sudo("sudo systemctl restart app", Some("sudo systemctl restart app"))]
#[case::empty("", None)]
fn commands_are_shown(#[case] whole: &str, #[case] expected: Option<&str>) {
    assert_eq!(command(whole).as_deref(), expected);
}

#[test]
fn long_commands_are_cut() {
    let shown = command(&format!("curl {}", "a b ".repeat(200))).expect("a command");
    assert!(shown.len() <= 204 && shown.ends_with('…'));
}

#[rstest]
#[case("git status --short", true)]
#[case("grep -rn needle .", true)]
#[case("cargo test", false)]
#[case("git commit -m x", false)]
fn looking_is_told_from_doing(#[case] command: &str, #[case] expected: bool) {
    assert_eq!(only_looks(command), expected);
}

#[rstest]
#[case("cd a && cargo test --workspace", "cargo test")]
#[case("cargo test -p store 2>&1 | tail", "cargo test")]
#[case("mise run lint", "mise run lint")]
#[case("./scripts/check.sh", "check.sh")]
fn a_command_is_known_again(#[case] whole: &str, #[case] expected: &str) {
    assert_eq!(command_key(whole), expected);
}

#[rstest]
#[case("git commit -m x", true)]
#[case("git add . && git -C /x commit -qm y", true)]
#[case("git commit --dry-run", false)]
#[case("git log --grep commit", false)]
#[case("echo committed", false)]
fn commits_are_seen(#[case] command: &str, #[case] expected: bool) {
    assert_eq!(makes_commit(command), expected);
}

#[rstest]
#[case("remembrancer recall 'how did we fix it'", true)]
#[case("cd x && /usr/local/bin/remembrancer status | head", true)]
#[case("RUST_LOG=debug remembrancer-hook < in.json", true)]
#[case("cargo test -p remembrancer-schema", false)]
#[case("cat remembrancer.toml", false)]
fn tc_18_our_own_commands_are_known(#[case] command: &str, #[case] expected: bool) {
    assert_eq!(is_own_command(command), expected);
}

#[rstest]
#[case::claude_code("mcp__remembrancer__search", true)]
#[case::of_the_plugin("mcp__plugin_remembrancer_remembrancer__forget", true)]
#[case::gemini("mcp_remembrancer_show", true)]
#[case::copilot("remembrancer-timeline", true)]
#[case::goose("remembrancer__remember", true)]
#[case::opencode("remembrancer_explain", true)]
#[case::with_a_slash("remembrancer/search", true)]
#[case::another("mcp__filesystem__search", false)]
#[case::like_ours("mcp__remembrancers__search", false)]
#[case::no_tool("remembrancer", false)]
#[case::built_in("search", false)]
fn tc_18_our_own_tools_are_known_by_every_host_s_name_for_them(#[case] name: &str, #[case] expected: bool) {
    assert_eq!(is_own_tool(name), expected);
}

#[rstest]
#[case::compiler(
    "Exit code 101\n   Compiling app\nwarning: unused\nerror[E0382]: borrow of moved value: `x`\n  --> src/a.rs",
    Some("error[E0382]: borrow of moved value: `x`")
)]
#[case::task_runner(
    "Exit code 1\n[lint] $ golangci-lint run\n[lint] ERROR task failed\nmain.go:5:2: value is not checked (errcheck)",
    Some("main.go:5:2: value is not checked (errcheck)")
)]
#[case::traceback(
    "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n\nDuring handling:\nValueError: bad value 7",
    Some("ValueError: bad value 7")
)]
#[case::panic(
    "running 3 tests\nthread 'sums_up' panicked at src/total.rs:12:5:\nassertion failed: a == b",
    Some("thread 'sums_up' panicked at src/total.rs:12:5: assertion failed: a == b")
)]
#[case::shell("Exit code 127\nbash: frob: command not found", Some("bash: frob: command not found"))]
#[case::test(
    "Exit code 1\nok  pkg/a\n--- FAIL: TestCache (0.00s)\n    cache_test.go:9: got 1, want 2",
    Some("--- FAIL: TestCache (0.00s)")
)]
#[case::coloured("\u{1b}[31merror\u{1b}[0m: it broke", Some("error: it broke"))]
#[case::anything("Exit code 2\nsomething odd happened", Some("something odd happened"))]
#[case::only_a_code("Exit code 1", None)]
#[case::host("<tool_use_error>File has not been read yet.</tool_use_error>", None)]
#[case::refused("The user doesn't want to proceed with this tool use.", None)]
fn tc_20_one_telling_line_is_kept(#[case] content: &str, #[case] expected: Option<&str>) {
    assert_eq!(error_line(content).as_deref(), expected);
}
