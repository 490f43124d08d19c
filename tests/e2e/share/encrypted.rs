//! The encrypted way to the server: machines share by it where the certificate is right. Where it is another authority's, for another
//! name, or too old, nothing is sent, `share status` says why, prompts go on, and once it is right all is caught up.

use remembrancer_tests::sandbox;
use rstest::rstest;
use rustix::process::Signal;

use super::encrypting::{Encrypting, certificate};
use super::world::Store;
use super::{ANSWER, PROMPT};

#[test]
fn machines_share_by_an_encrypted_way() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let way = Encrypting::before(store.address(), "server.pem");
    let authorities = certificate("ca.pem");
    store.team("core", &["ada", "bob"]);
    // The certificate is for the address and for the name.
    let [laptop, desk] = [("ada", "laptop", "127.0.0.1"), ("bob", "desk", "localhost")].map(|(member, machine, host)| {
        let settings = store.settings(member, "core", machine).at(host, way.port());
        store.machine(&settings.verified_by(Some(&authorities)))
    });
    laptop.transcript("of-laptop").turn(PROMPT, ANSWER);
    desk.transcript("of-desk").topics(100..103);
    let (_writes, recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    recalls.wait_for_model();
    desk.wait_to_recall(PROMPT, "seven copies");
    laptop.wait_for("case102");
    // The engine takes nobody without a password, by this way neither.
    for (machine, member) in [(&laptop, "ada"), (&desk, "bob")] {
        machine.wait_for_status(&[&format!("connected as {}", store.login(member))]);
    }
    let (asked, agreed) = way.asked_and_agreed();
    assert!(agreed >= 2, "{agreed} of {asked}");

    laptop.run(&["forget", "--yes", "--matching", "seven copies"]);
    desk.wait_until_gone("seven copies");
}

#[rstest]
#[case::of_another_authority("server.pem", "other-ca.pem", "share.ca_file")]
#[case::for_another_name("elsewhere.pem", "ca.pem", "share.url")]
#[case::that_has_expired("expired.pem", "ca.pem", "clock")]
fn a_certificate_that_is_not_right_gets_nothing(#[case] shown: &str, #[case] trusted: &str, #[case] remedy: &str) {
    let Some(store) = Store::of(sandbox!()) else { return };
    let way = Encrypting::before(store.address(), shown);
    store.team("core", &["ada"]);
    let laptop = store.home();
    let authorities = laptop.sandbox.home().join("authorities.pem");
    fs_err::copy(certificate(trusted), &authorities).unwrap();
    let settings = store.settings("ada", "core", "laptop").by_port(way.port());
    laptop.configure(&settings.verified_by(Some(&authorities)));
    laptop.transcript("live").topics(100..104);
    let writes = laptop.sandbox.start();
    writes.flush();
    let told = laptop.wait_for_status(&["certificate"]);
    eprintln!("{shown}, judged by {trusted}: {told}");
    assert!(told.contains("refused:") && told.contains(remedy), "{told}");
    laptop.answers(100..104, "the server's certificate is not right");
    let (asked, agreed) = way.asked_and_agreed();
    assert!(asked > 0 && agreed == 0, "{agreed} of {asked}");
    store.holds_none(&["case100", "laptop"], "not even who calls was told");

    way.show("server.pem");
    fs_err::copy(certificate("ca.pem"), &authorities).unwrap();
    laptop.nudge();
    store.wait_for_live(4);
}

#[test]
fn a_server_without_tls_is_called_without_only_where_the_settings_say_so() {
    let Some(store) = Store::of(sandbox!()) else { return };
    store.team("core", &["ada"]);
    let plain = store.settings("ada", "core", "laptop");
    let laptop = store.machine(&plain.clone().verified_by(None));
    laptop.transcript("live").topics(100..104);
    let writes = laptop.sandbox.start();
    writes.flush();
    let told = laptop.wait_for_status(&["share.tls"]);
    eprintln!("a server that has no TLS: {told}");
    laptop.answers(100..104, "the server has no TLS");
    store.holds_none(&["case100", "laptop"], "it would be readable on its way");
    writes.stop(Signal::TERM);

    laptop.configure(&plain);
    let _writes = laptop.sandbox.start();
    store.wait_for_live(4);
}
