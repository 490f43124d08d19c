use rmcp::model::{EmptyResult, RequestId, ServerJsonRpcMessage, ServerResult};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn ping(id: u32) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
}

fn reply(id: u32) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), RequestId::Number(id.into()))
}

#[test]
fn a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
    runtime().block_on(async {
        let (mut client, input) = tokio::io::duplex(4_096);
        let mut bounded = Bounded::new(input, tokio::io::sink(), CancellationToken::new());
        let writes = async {
            let piece = vec![b'x'; 64 * 1024];
            for _ in 0..=LONGEST_LINE / piece.len() {
                client.write_all(&piece).await.unwrap();
            }
            client.write_all(format!("\n{}", ping(7)).as_bytes()).await.unwrap();
        };
        let (received, ()) = tokio::join!(bounded.receive(), writes);
        assert_eq!(serde_json::to_value(received.unwrap()).unwrap()["id"], 7);
    });
}

#[test]
fn nothing_more_is_read_while_too_many_replies_are_not_taken() {
    runtime().block_on(async {
        let (mut client, input) = tokio::io::duplex(64 * 1024);
        // Takes one byte, and then nothing until it is read.
        let (output, mut taker) = tokio::io::duplex(1);
        let mut bounded = Bounded::new(input, output, CancellationToken::new());
        client.write_all(ping(1).as_bytes()).await.unwrap();
        let waiting: Vec<_> = (0..MOST_UNTAKEN as u32)
            .map(|id| tokio::spawn(bounded.send(reply(id))))
            .collect();
        assert!(
            tokio::time::timeout(Duration::from_millis(50), bounded.receive())
                .await
                .is_err()
        );
        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            taker.read_to_end(&mut all).await.unwrap();
            all
        });
        for one in waiting {
            one.await.unwrap().unwrap();
        }
        let received = tokio::time::timeout(PATIENCE, bounded.receive()).await.unwrap();
        assert_eq!(serde_json::to_value(received.unwrap()).unwrap()["id"], 1);
        drop(bounded);
        let lines = reading.await.unwrap().split(|byte| *byte == b'\n').count() - 1;
        assert_eq!(lines, MOST_UNTAKEN);
    });
}

#[test]
fn the_end_of_the_input_and_of_the_output_are_told() {
    runtime().block_on(async {
        let ended = CancellationToken::new();
        let mut bounded = Bounded::new(tokio::io::empty(), tokio::io::sink(), ended.clone());
        assert!(bounded.receive().await.is_none());
        assert!(ended.is_cancelled());
        let ended = CancellationToken::new();
        let (output, taker) = tokio::io::duplex(16);
        drop(taker);
        let mut bounded = Bounded::new(tokio::io::empty(), output, ended.clone());
        assert!(bounded.send(reply(1)).await.is_err());
        assert!(ended.is_cancelled());
    });
}
