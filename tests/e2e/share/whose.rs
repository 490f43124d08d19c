//! Whose a memory is, said where it is recalled: what another member shared is marked with its login, what is one's own is not, on
//! whichever of one's machines it was written.

use remembrancer_tests::{sandbox, topic};

use super::world::Store;
use super::{ANSWER, PROMPT};

#[test]
fn a_recollection_says_whose_it_is_where_it_is_another_s() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    let phone = store.machine_of("bob", "core", "phone");
    laptop.transcript("of-laptop").turn(PROMPT, ANSWER);
    phone.transcript("of-phone").topics(100..101);
    let daemons = [&laptop, &desk, &phone].map(|machine| machine.sandbox.start());
    for machine in [&laptop, &desk, &phone] {
        machine.wait_for("seven copies");
        machine.wait_for("case100");
    }
    for daemon in &daemons {
        daemon.wait_for_model();
    }
    // Who is asked, of what, and whether it is another member's there.
    let of_bob = topic(100).0;
    let asked = [
        (&laptop, PROMPT, "seven copies", "ada", false),
        (&desk, PROMPT, "seven copies", "ada", true),
        (&phone, PROMPT, "seven copies", "ada", true),
        (&laptop, of_bob.as_str(), "case100", "bob", true),
        (&desk, of_bob.as_str(), "case100", "bob", false),
        (&phone, of_bob.as_str(), "case100", "bob", false),
    ];
    for (machine, prompt, words, member, is_marked) in asked {
        let told = machine.wait_to_recall(prompt, words);
        let mark = format!("shared by {}", store.login(member));
        assert_eq!(told.contains(&mark), is_marked, "{mark}: {told}");
    }
}
