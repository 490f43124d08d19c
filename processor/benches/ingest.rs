//! How fast transcripts are read and texts redacted, in bytes a second. DESIGN §9 asks for 50 MB of transcript a second
//! with the store behind it, so reading alone must be well above.
//!
//! The transcript is made here: 400 turns, of which each has a long tool result (most bytes of real transcripts are
//! such), and every fortieth a picture. A plain scan for newlines stands beside it as the floor.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use remembrancer_processor::ingest::{
    Agent, Context, GrowingTurn, ResumePoint, SourceInfo, SourceReader, Turn, episodes, redact,
};
use remembrancer_schema::UnixMillis;
use serde_json::{Value, json};

fn record(kind: &str, id: &str, message: &Value) -> String {
    format!(
        "{}\n",
        json!({"type": kind, "uuid": id, "sessionId": "s", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/home/ada/shop",
            "version": "2.1.40", "gitBranch": "main", "userType": "external", "isSidechain": false, "message": message})
    )
}

fn transcript() -> Vec<u8> {
    let output = "src/total.rs:12: let total = lines.iter().map(Line::amount).sum(); // \"rounded\"\n".repeat(200);
    let picture = "iVBORw0KGgoAAAANSUhEUgAA".repeat(20_000);
    let answer = "The total rounds each line before adding them up, so that three thirds give 0.99.\n\nIt is rounded once now.";
    let mut text = String::new();
    for turn in 0..400 {
        let call =
            json!({"type": "tool_use", "id": format!("t{turn}"), "name": "Bash", "input": {"command": "cargo test -p basket"}});
        let result = json!({"type": "tool_result", "tool_use_id": format!("t{turn}"), "content": output});
        text += &record(
            "user",
            &format!("u{turn}"),
            &json!({"role": "user", "content": format!("why does basket test {turn} fail?")}),
        );
        text += &record("assistant", &format!("c{turn}"), &json!({"content": [call]}));
        text += &record("user", &format!("r{turn}"), &json!({"content": [result]}));
        if turn % 40 == 0 {
            let image = json!({"type": "image", "source": {"type": "base64", "data": picture}});
            text += &record(
                "user",
                &format!("i{turn}"),
                &json!({"content": [{"type": "tool_result", "content": [image]}]}),
            );
        }
        text += &record(
            "assistant",
            &format!("a{turn}"),
            &json!({"content": [{"type": "text", "text": answer}]}),
        );
    }
    text.into_bytes()
}

fn reader() -> SourceReader {
    let info = SourceInfo {
        agent: Agent::CLAUDE_CODE,
        name: "s".to_owned(),
        context: Context::default(),
        fallback_time: UnixMillis(0),
    };
    SourceReader::new(&info, ResumePoint::default())
}

fn reading(criterion: &mut Criterion) {
    let content = transcript();
    let mut group = criterion.benchmark_group("transcript");
    group.throughput(Throughput::Bytes(content.len() as u64)).sample_size(20);
    group.bench_function("scan for newlines", |bencher| {
        bencher.iter(|| black_box(memchr::memchr_iter(b'\n', &content).count()));
    });
    group.bench_function("read and cut", |bencher| {
        bencher.iter(|| {
            let mut reader = reader();
            for chunk in content.chunks(64 * 1024) {
                reader.push(chunk);
            }
            reader.drain().turns.iter().map(|turn| episodes(turn).len()).sum::<usize>()
        });
    });
    group.finish();
}

/// A turn that is still open after `texts` texts of its agent.
fn open_turn(texts: usize) -> Turn {
    let mut reader = reader();
    reader.push(record("user", "u", &json!({"content": "why does the basket's total differ?"})).as_bytes());
    for text in 0..texts {
        let said = format!("{text}: {}", "each line is rounded before the lines are added up, ".repeat(5));
        let content = json!({"content": [{"type": "text", "text": said}]});
        reader.push(record("assistant", &format!("a{text}"), &content).as_bytes());
    }
    reader.drain().turns.pop().expect("invariant: there is one turn")
}

/// What it costs to cut an open turn again after an append: by what is new in it, not by its length.
fn growing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open turn");
    for texts in [10, 100, 400] {
        let turn = open_turn(texts);
        group.bench_function(format!("{texts} texts, anew"), |bencher| {
            bencher.iter(|| black_box(episodes(&turn)).len());
        });
        let mut growing = GrowingTurn::new(&turn);
        group.bench_function(format!("{texts} texts, grown"), |bencher| {
            bencher.iter(|| black_box(growing.episodes(&turn)).len());
        });
    }
    group.finish();
}

fn redaction(criterion: &mut Criterion) {
    let prose = "The total rounds each line before adding them up; see `basket/src/total.rs` and its tests. ".repeat(1_000);
    let about_secrets = "The token is read from settings.token_url; the password field is empty by default. ".repeat(1_000);
    let mut group = criterion.benchmark_group("redact");
    for (name, text) in [("prose", prose), ("prose about secrets", about_secrets)] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| black_box(redact(&text)).len()));
    }
    group.finish();
}

criterion_group!(benches, reading, growing, redaction);
criterion_main!(benches);
