//! The shared store's side that PostgreSQL runs: its migrations, what members may do by its functions, and what they can't do whatever
//! they try. Each test has a database of its own on one real server; where there is none, each says so and is passed over, and with
//! `REMEMBRANCER_REQUIRE_POSTGRES=1` it fails.

#![expect(clippy::unwrap_used, reason = "the helpers of these tests are tests, too")]

mod attacker;
mod bounds;
mod leaving;
mod looking_after;
mod migrations;
mod order;
mod plans;
mod pull;
mod push;
mod search;
mod store;
