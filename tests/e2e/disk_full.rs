//! TC-40: the disk runs full. A small file system of its own stands for it, where this user may mount one.

use std::path::{Path, PathBuf};
use std::process::Command;

use remembrancer_tests::{eventually, sandbox, skip, topic};
use serde_json::Value;

use crate::PATIENCE;

/// Big enough for an empty store with its log, and soon full.
const SIZE: &str = "size=4m,mode=0700";

/// A mounted file system, unmounted when it is dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path) -> Option<Self> {
        fs_err::create_dir_all(at).unwrap();
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", SIZE, "tmpfs"])
            .arg(at)
            .output();
        match output {
            Ok(output) if output.status.success() => Some(Self(at.to_owned())),
            Ok(output) => {
                skip(&format!(
                    "no file system can be mounted: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                ));
                None
            }
            Err(error) => {
                skip(&format!("no file system can be mounted: {error}"));
                None
            }
        }
    }

    /// Writes until there is no room.
    fn fill(&self) -> PathBuf {
        let ballast = self.0.join("ballast");
        let mut file = fs_err::File::create(&ballast).unwrap();
        while std::io::Write::write_all(&mut file, &[0; 4_096]).is_ok() {}
        ballast
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a daemon that a failed test left is killed only afterwards.
        Command::new("umount").arg("-l").arg(&self.0).output().ok();
    }
}

#[test]
fn tc_40_a_full_disk_is_told_and_loses_nothing() {
    let sandbox = sandbox!();
    let Some(disk) = Disk::mount(&sandbox.places().data_dir()) else {
        return;
    };
    sandbox.transcript("older", "shop").topics(0..5);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 5);
    let ballast = disk.fill();
    for number in 0..4 {
        sandbox
            .transcript(&format!("new-{number}"), "shop")
            .on_day(20)
            .topics(100 * (number + 1)..100 * (number + 1) + 60);
    }
    eventually("the problem in the status", PATIENCE, || {
        let status = daemon.status();
        status["problems"]
            .as_array()
            .is_some_and(|problems| problems.iter().filter_map(Value::as_str).any(|text| text.contains("full")))
            .then_some(())
    });
    let shop = sandbox.project("shop");
    // Asked and answered all the same: that nothing can be stored about it is not the prompt's trouble.
    assert!(daemon.recall("asks", &shop, &topic(1).0).context.contains("case1"));
    sandbox.hook("asks-too", &shop, &topic(2).0);

    fs_err::remove_file(ballast).unwrap();
    // Room for what waits: the rest of this small disk would not do.
    let more = Command::new("mount")
        .args(["-o", "remount,size=64m"])
        .arg(&disk.0)
        .output()
        .unwrap();
    assert!(more.status.success(), "{more:?}");
    eventually("all of it after space returned", PATIENCE, || {
        (daemon.status()["episodes"] == 245).then_some(())
    });
    daemon.flush();
    // Whether it can be written again is looked at by each status, which waits a moment for the writer.
    eventually("no problem to be told any more", PATIENCE, || {
        (daemon.status()["problems"] == serde_json::json!([])).then_some(())
    });
    assert_eq!(daemon.status()["records"], 490, "read once, lost nothing");
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
    drop(daemon);
}

#[test]
fn tc_40_a_pause_holds_on_a_full_disk_and_health_follows() {
    let sandbox = sandbox!();
    let Some(disk) = Disk::mount(&sandbox.places().data_dir()) else {
        return;
    };
    sandbox.transcript("older", "shop").topics(0..5);
    let daemon = sandbox.start();
    daemon.flush();
    let ballast = disk.fill();
    let health = || daemon.status()["health"].clone();
    let told = health();
    assert_eq!(told["state"], "degraded", "{told}");
    let forgotten = sandbox.run(&["forget", "--all", "--yes"]);
    assert!(!forgotten.status.success());
    let paused = sandbox.run(&["pause"]);
    let said = String::from_utf8_lossy(&paused.stderr).into_owned();
    assert!(
        paused.status.success() && said.contains("only while this daemon runs"),
        "{said}"
    );
    assert!(
        daemon.status()["paused"].as_str().unwrap().contains("can't be stored"),
        "{}",
        daemon.status()["paused"]
    );
    let shop = sandbox.project("shop");
    assert_eq!(daemon.recall("asks", &shop, &topic(1).0).reason.as_deref(), Some("paused"));
    // Room is made, and nobody asks for anything: the next look finds all well, and the pause stored.
    fs_err::remove_file(ballast).unwrap();
    eventually("health after space returned", PATIENCE, || {
        (health()["state"] == "well").then_some(())
    });
    assert_eq!(daemon.status()["paused"], "until resumed");
    assert!(sandbox.run(&["resume"]).status.success());
    assert_eq!(daemon.status()["paused"], Value::Null);
}
