//! A short life of the whole system: TC-45.

use remembrancer_tests::sandbox;
use remembrancer_tests::soak::{Plan, live};

#[test]
fn tc_45_a_minute_of_accelerated_life() {
    let sandbox = sandbox!();
    let outcome = live(&sandbox, Plan::SHORT, |_| ());
    let steady = outcome.steady();
    eprintln!("{:?}; hooks {}; {steady:?}", outcome.done, outcome.hooks);
    assert_eq!(outcome.faults(), Vec::<String>::new());
    assert!(outcome.shown > 0, "nothing was ever shown");
}
