//! Who has to agree before anything is deleted: nothing is without a token of its own, or without the user's word where the client can ask.

use std::path::Path;

use remembrancer_tests::{sandbox, topic};
use rmcp::model::{ElicitationAction, ProtocolVersion};
use rmcp::service::ClientLifecycleMode;
use serde_json::json;

use super::client::{Client, Person, block};
use super::filled;

#[test]
fn nothing_is_forgotten_without_its_own_token() {
    let sandbox = sandbox!();
    let daemon = filled(&sandbox);
    let shop = sandbox.project("shop");
    block(async {
        let client = Client::of(&sandbox, Path::new(&shop)).await;
        let count = || sandbox.episodes().len();
        let first = json!({"session": "first"});
        let preview = client.call("forget", first.clone()).await;
        assert_eq!(
            (&preview.structured["status"], &preview.structured["turns"]),
            (&json!("unconfirmed"), &json!(3))
        );
        let token = preview.structured["confirm"].as_str().unwrap().to_owned();
        assert!(
            preview.text.contains(&token) && preview.text.contains("Show this to the user"),
            "{}",
            preview.text
        );
        assert_eq!(count(), 6, "nothing is deleted yet");
        for (arguments, said) in [
            (
                json!({"session": "first", "confirm": "0".repeat(32)}),
                "none of this server's",
            ),
            (json!({"session": "second", "confirm": token}), "another selection"),
            (json!({"session": "first", "confirm": token}), "used before"),
        ] {
            let refused = client.refused("forget", arguments).await;
            assert!(refused.contains(said) && refused.contains("What to do: "), "{refused}");
            assert_eq!(count(), 6);
        }
        // What is selected has grown since it was shown.
        let matching = json!({"project": "shop", "since": "2026-08-01"});
        let shown = client.call("forget", matching.clone()).await;
        sandbox.transcript("third", "shop").on_day(3).topics(6..7);
        daemon.flush();
        let mut confirmed = matching.clone();
        confirmed["confirm"] = shown.structured["confirm"].clone();
        let refused = client.refused("forget", confirmed).await;
        assert!(refused.contains("not what was shown any more"), "{refused}");
        assert_eq!(count(), 7);
        let mut confirmed = first.clone();
        confirmed["confirm"] = client.call("forget", first).await.structured["confirm"].clone();
        let done = client.call("forget", confirmed).await;
        assert_eq!(
            (&done.structured["status"], &done.structured["turns"]),
            (&json!("forgotten"), &json!(3))
        );
        assert_eq!(count(), 4);
        assert!(sandbox.prompts().iter().all(|prompt| *prompt != topic(0).0));
        client.end().await;
    });
}

#[test]
fn a_client_that_can_ask_its_user_asks_and_no_token_is_given_to_the_model() {
    let latest = || ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let modes: [fn() -> ClientLifecycleMode; 2] = [|| ClientLifecycleMode::Initialize, latest];
    for mode in modes {
        let sandbox = sandbox!();
        let daemon = filled(&sandbox);
        let shop = sandbox.project("shop");
        let forgets = |person: Person| {
            let (sandbox, shop) = (&sandbox, &shop);
            async move {
                let client = Client::with(sandbox, Path::new(shop), person.clone(), mode()).await;
                let given = client.call("forget", json!({"session": "first"})).await;
                client.end().await;
                let asked = person.asked();
                assert_eq!(asked.len(), 1, "{asked:?}");
                assert!(
                    asked[0].contains("3 episodes") && asked[0].contains(&topic(0).0[..20]),
                    "{asked:?}"
                );
                given
            }
        };
        block(async {
            for unwilling in [
                Person::who(ElicitationAction::Decline, None),
                Person::who(ElicitationAction::Cancel, None),
                Person::who(ElicitationAction::Accept, Some(json!({"delete": false}))),
            ] {
                let given = forgets(unwilling).await;
                assert_eq!(given.structured["status"], "declined", "{}", given.text);
                assert!(given.structured["confirm"].is_null());
                assert_eq!(sandbox.episodes().len(), 6);
            }
            let given = forgets(Person::who(ElicitationAction::Accept, Some(json!({"delete": true})))).await;
            assert_eq!(given.structured["status"], "forgotten", "{}", given.text);
            assert_eq!(sandbox.episodes().len(), 3);
        });
        drop(daemon);
    }
}
