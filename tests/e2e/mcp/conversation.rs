//! The conversation in `docs/mcp.md`: the protocol's own client puts it to the server on the sample sessions, and what it gets must be
//! what the page shows. What is another each time (a token, the id and the time of a fact) stands there as it was once.

use remembrancer_tests::book::{World, root, writes};
use remembrancer_tests::{eventually, sandbox};
use rmcp::model::{ElicitationAction, ReadResourceRequestParams};
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};

use super::client::{Client, Given, Person, block};

const BEGIN: &str = "<!-- The conversation, written by tests/e2e/mcp/conversation.rs. -->\n";
const END: &str = "<!-- End of the conversation. -->\n";

/// What the page shows of what is another each time.
const TOKEN: &str = "e4631cd4d5f725958eef74291d7e74c2";
const FACT: &str = "cc1544ce";
const THEN: &str = "2026-11-29T10:48:42Z";
/// How often a search is put that a busy machine answers by words alone.
const TRIES: usize = 8;

/// A conversation under way, as the page shows it.
struct Told {
    lines: Vec<String>,
    /// What differs from one time to the next, and what is written in its place.
    masks: Vec<(String, &'static str)>,
    /// The line about data, of which only the first is written whole.
    data: Option<String>,
}

impl Told {
    fn says(&mut self, text: &str) {
        for line in text.lines() {
            let line = self
                .masks
                .iter()
                .fold(line.to_owned(), |line, (from, to)| line.replace(from.as_str(), to));
            let is_data = line.starts_with("Notes from this user's earlier sessions.");
            if is_data && self.data.as_ref() == Some(&line) {
                self.lines.push("…".to_owned());
                continue;
            }
            if is_data {
                self.data = Some(line.clone());
            }
            // A fence's blank lines between quoted ones end in no space on the page.
            self.lines.push(line.trim_end().to_owned());
        }
    }

    fn asks(&mut self, what: &str) {
        if !self.lines.is_empty() {
            self.lines.push(String::new());
        }
        self.says(&format!("> {what}"));
    }

    async fn call(&mut self, client: &Client, tool: &'static str, arguments: Value) -> Value {
        self.asks(&format!("tools/call {tool} {arguments}"));
        let given = undegraded(client, tool, &arguments).await;
        self.answered(&given.text, given.is_error);
        given.structured
    }

    fn answered(&mut self, text: &str, is_error: bool) {
        if is_error {
            self.says(&format!("isError: {text}"));
        } else {
            self.says(text);
        }
    }
}

/// What a tool gives where the machine has time for all of it: a search on a busy one may go by words alone, and says so.
async fn undegraded(client: &Client, tool: &'static str, arguments: &Value) -> Given {
    let mut given = client.try_call(tool, arguments.clone()).await.unwrap();
    for _ in 1..TRIES {
        if given.structured["degradations"].as_array().is_none_or(Vec::is_empty) {
            break;
        }
        given = client.try_call(tool, arguments.clone()).await.unwrap();
    }
    given
}

/// A client that can't ask its user.
async fn alone(told: &mut Told, client: &Client) {
    told.asks("initialize");
    let info = client.0.peer_info().unwrap();
    let server = info.server_info.as_ref().unwrap();
    told.says(&format!(
        "{}",
        json!({"name": server.name, "title": server.title, "version": server.version})
    ));
    told.asks("tools/list");
    for tool in client.0.list_all_tools().await.unwrap() {
        let notes = serde_json::to_string(tool.annotations.as_ref().unwrap()).unwrap();
        told.says(&format!("{} ({notes})", tool.name));
    }
    let search = json!({"query": "money cents float", "everywhere": true, "limit": 2});
    let found = told.call(client, "search", search).await;
    let id = found["results"][0]["id"].as_str().unwrap().to_owned();
    told.call(client, "show", json!({"id": id})).await;
    told.asks("tools/call remember {\"fact\":\"Receipts are printed in the customer's language.\",\"everywhere\":true}");
    let fact = json!({"fact": "Receipts are printed in the customer's language.", "everywhere": true});
    let given = client.call("remember", fact).await;
    told.masks.push((given.structured["id"].as_str().unwrap().to_owned(), FACT));
    told.answered(&given.text, false);
    told.call(client, "search", json!({"query": "x", "limt": 3})).await;
    told.asks(&format!("tools/call forget {}", json!({"id": id})));
    let given = client.call("forget", json!({"id": id})).await;
    let token = given.structured["confirm"].as_str().unwrap().to_owned();
    told.masks.push((token.clone(), TOKEN));
    told.answered(&given.text, false);
    let wrong = json!({"id": id, "confirm": "0123456789abcdef0123456789abcdef"});
    told.call(client, "forget", wrong).await;
    told.call(client, "forget", json!({"id": id, "confirm": token})).await;
    told.asks("resources/list");
    for resource in client.0.list_all_resources().await.unwrap() {
        told.says(&format!("{}  {}", resource.uri, resource.name));
    }
    told.asks("resources/read remembrancer://episode/ffffffff");
    let nowhere = ReadResourceRequestParams::new("remembrancer://episode/ffffffff");
    told.says(&format!("error: {}", client.0.read_resource(nowhere).await.unwrap_err()));
}

/// A client whose user is asked, and declines.
async fn with_user(told: &mut Told, client: &Client, person: &Person) {
    told.asks("tools/call search {\"query\":\"receipt printer\",\"everywhere\":true,\"limit\":1}");
    let search = json!({"query": "receipt printer", "everywhere": true, "limit": 1});
    let given = undegraded(client, "search", &search).await;
    let at = given.structured["results"][0]["at"].as_str().unwrap().to_owned();
    told.masks.push((at[..10].to_owned(), &THEN[..10]));
    told.masks.insert(0, (at, THEN));
    told.answered(&given.text, false);
    let id = given.structured["results"][0]["id"].as_str().unwrap().to_owned();
    told.asks(&format!("tools/call forget {}", json!({"id": id})));
    let given = client.call("forget", json!({"id": id})).await;
    for question in person.asked() {
        told.says(&format!("< elicitation/create: {question}"));
    }
    told.answered(&given.text, false);
}

#[test]
fn the_conversation_of_the_page_is_had() {
    let sandbox = sandbox!();
    let world = World::new(&sandbox, crate::book::hook());
    let folder = sandbox.home().canonicalize().unwrap();
    let mut told = Told {
        lines: Vec::new(),
        masks: vec![(sandbox.root().canonicalize().unwrap().display().to_string(), "~")],
        data: None,
    };
    block(async {
        let client = Client::of(&sandbox, &folder).await;
        alone(&mut told, &client).await;
        client.end().await;
        // The fact, too, is found by its meaning.
        eventually("all episodes to be embedded", crate::PATIENCE, || {
            (sandbox.json(&["status"])["embedding_backlog"] == 0).then_some(())
        });
        told.lines.push(String::new());
        told.lines.push("# a client that can ask its user, who declines".to_owned());
        let person = Person::who(ElicitationAction::Decline, None);
        let client = Client::with(&sandbox, &folder, person.clone(), ClientLifecycleMode::Initialize).await;
        with_user(&mut told, &client, &person).await;
        client.end().await;
    });
    drop(world);
    let path = root().join("docs/mcp.md");
    let page = fs_err::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let now = format!("```text\n{}\n```\n", told.lines.join("\n"));
    if writes() {
        return fs_err::write(&path, format!("{before}{BEGIN}{now}{END}{after}")).unwrap();
    }
    assert!(
        shown == now,
        "docs/mcp.md shows another conversation than this one; REMEMBRANCER_WRITE_DOCUMENTS=1 writes it:\n{now}"
    );
}
