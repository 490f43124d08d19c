//! `config`: what is set and by what, what is wrong and where, and the file in an editor.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use remembrancer_tests::{Sandbox, sandbox};
use serde_json::{Value, json};

fn setting<'a>(shown: &'a Value, key: &str) -> &'a Value {
    let settings = shown["settings"].as_array().unwrap();
    settings.iter().find(|setting| setting["key"] == key).unwrap()
}

/// A script that stands for an editor, and gets the file as its last argument.
fn editor(sandbox: &Sandbox, script: &str) -> String {
    let path = sandbox.home().join("edit.sh");
    fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn edit(sandbox: &Sandbox, script: &str) -> Output {
    let editor = editor(sandbox, script);
    sandbox
        .command(&["config", "edit"])
        .env_remove("VISUAL")
        .env("EDITOR", editor)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(all).unwrap()
}

fn file(sandbox: &Sandbox) -> PathBuf {
    sandbox.places().config_file()
}

#[test]
fn every_setting_is_shown_with_its_origin() {
    let sandbox = sandbox!();
    let shown = sandbox.json(&["config", "show"]);
    assert_eq!(shown["exists"], false);
    let settings = shown["settings"].as_array().unwrap();
    assert!(
        settings.len() > 20 && settings.iter().all(|setting| setting["origin"] == "default"),
        "{shown:#}"
    );

    sandbox.configure("# mine\n[recall]\ntop = 5\n[fusion]\nprofile = \"v2\"\n");
    let shown = sandbox.json(&["config", "show"]);
    let top = setting(&shown, "recall.top");
    assert_eq!((&top["value"], &top["line"]), (&json!(5), &json!(3)));
    assert_eq!(top["origin"], file(&sandbox).display().to_string());
    let text = said(&sandbox.run(&["config"]));
    assert!(text.contains(&format!("{}:3", file(&sandbox).display())), "{text}");

    let output = sandbox
        .command(&["config", "show", "--json"])
        .env("RAG_FUSION_V2_ENABLED", "false")
        .output()
        .unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    let profile = setting(&shown, "fusion.profile");
    assert_eq!(
        (&profile["value"], &profile["origin"]),
        (&json!("rrf"), &json!("RAG_FUSION_V2_ENABLED"))
    );
    assert!(
        shown["environment"].to_string().contains("RAG_FUSION_V2_ENABLED"),
        "{shown:#}"
    );

    let other = sandbox.home().join("other.toml");
    fs_err::write(&other, "recall.top = 2\n").unwrap();
    let shown = sandbox.json(&["--config", other.to_str().unwrap(), "config", "show"]);
    assert_eq!(setting(&shown, "recall.top")["origin"], other.display().to_string());
    assert_eq!(sandbox.run(&["--config", "/nowhere.toml", "config"]).status.code(), Some(2));
}

#[test]
fn a_wrong_file_is_told_by_line_and_remedy_in_words_for_people() {
    let sandbox = sandbox!();
    let path = file(&sandbox).display().to_string();
    for (text, expected) in [
        ("[recall]\nspeed = 3\n", format!("{path}:2: unknown field `speed`")),
        (
            "[recall]\n\ntop = \"three\"\n",
            format!("{path}:3: top takes a whole number, 0 or more"),
        ),
        (
            "[recall]\ntop = -1\n",
            format!("{path}:2: top takes a whole number, 0 or more, not -1"),
        ),
        ("[recall]\ntop = 99\n", format!("{path}:2: recall.top = 99: choose 1 to 10")),
    ] {
        sandbox.configure(text);
        for command in [&["config", "check"][..], &["config", "show"], &["config"]] {
            let output = sandbox.run(command);
            assert_eq!(output.status.code(), Some(2), "{command:?}: {text}");
            let said = said(&output);
            assert!(said.contains(&expected) && said.contains("hint:"), "{command:?}: {said}");
            for code in ["usize", "u64", "f32", "f64", "i64"] {
                assert!(!said.contains(code), "{said}");
            }
        }
        let output = sandbox.run(&["config", "check", "--json"]);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &told["valid"]), (Some(2), &json!(false)));
        assert!(told["error"].as_str().unwrap().contains(&expected), "{told}");
    }
}

#[test]
fn a_good_file_is_called_good_with_what_makes_no_sense_in_it() {
    let sandbox = sandbox!();
    let said_of = |arguments: &[&str]| {
        let output = sandbox.run(arguments);
        (output.status.code(), said(&output))
    };
    let (code, text) = said_of(&["config", "check"]);
    assert!(code == Some(0) && text.contains("at their defaults"), "{text}");
    sandbox.configure("[transcripts]\nusual_folders = false\n");
    let (code, text) = said_of(&["config", "check"]);
    assert!(code == Some(0) && text.contains("valid: 1 setting of its own"), "{text}");
    assert!(text.contains("warning: ") && text.contains("nothing is read"), "{text}");
    let other = sandbox.home().join("other.toml");
    fs_err::write(&other, "[recall]\ntop = 2\nscope = \"all\"\n").unwrap();
    let (code, text) = said_of(&["config", "check", other.to_str().unwrap()]);
    assert!(code == Some(0) && text.contains("other.toml is valid: 2 settings"), "{text}");
    assert_eq!(said_of(&["config", "check", "/nowhere.toml"]).0, Some(2));
    assert_eq!(said_of(&["config", "path"]).1.trim(), file(&sandbox).display().to_string());
}

#[test]
fn a_file_is_made_to_be_edited_private_and_valid() {
    let sandbox = sandbox!();
    let output = edit(
        &sandbox,
        "grep -q '^#top = 3$' \"$1\" && sed -i.bak 's/^#top = 3$/top = 5/' \"$1\" && rm -f \"$1.bak\"",
    );
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = said(&output);
    assert!(
        text.contains("1 setting has changed") && text.contains("recall.top = 5"),
        "{text}"
    );
    assert!(text.contains("No daemon runs"), "{text}");
    let mode = fs_err::metadata(file(&sandbox)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(setting(&sandbox.json(&["config", "show"]), "recall.top")["value"], 5);
}

#[test]
fn what_is_not_changed_leaves_no_file() {
    let sandbox = sandbox!();
    let output = edit(&sandbox, "true");
    assert!(
        output.status.success() && said(&output).contains("Nothing was changed"),
        "{}",
        said(&output)
    );
    assert!(!file(&sandbox).exists());
}

#[test]
fn what_can_not_be_used_is_taken_back_where_nobody_can_be_asked() {
    let sandbox = sandbox!();
    sandbox.configure("[recall]\ntop = 4\n");
    let output = edit(&sandbox, "echo 'top = many' >> \"$1\"");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(fs_err::read_to_string(file(&sandbox)).unwrap(), "[recall]\ntop = 4\n");
    let refused = file(&sandbox).with_file_name("config.toml.refused");
    assert!(fs_err::read_to_string(&refused).unwrap().ends_with("top = many\n"));
    assert!(said(&output).contains("config.toml.refused"), "{}", said(&output));
    assert!(sandbox.run(&["config", "check"]).status.success());
}

#[test]
fn a_linked_file_stays_linked() {
    let sandbox = sandbox!();
    sandbox.configure("");
    let kept = sandbox.home().join("dotfiles.toml");
    fs_err::rename(file(&sandbox), &kept).unwrap();
    fs_err::os::unix::fs::symlink(&kept, file(&sandbox)).unwrap();
    assert!(edit(&sandbox, "echo 'recall.top = 2' > \"$1\"").status.success());
    assert_eq!(edit(&sandbox, "echo 'top = many' > \"$1\"").status.code(), Some(2));
    assert!(fs_err::symlink_metadata(file(&sandbox)).unwrap().is_symlink());
    assert_eq!(fs_err::read_to_string(&kept).unwrap(), "recall.top = 2\n");
}

#[test]
fn an_editor_that_fails_is_named() {
    let sandbox = sandbox!();
    let output = edit(&sandbox, "exit 3");
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(said.contains("edit.sh") && said.contains("VISUAL"), "{said}");
}

#[test]
fn a_running_daemon_is_said_not_to_have_taken_it() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    let output = edit(&sandbox, "echo '[recall]\ntop = 2' > \"$1\"");
    let said = said(&output);
    assert!(output.status.success() && said.contains("has not taken them"), "{said}");
    assert!(said.contains(&format!("process {}", daemon.pid())), "{said}");
}
