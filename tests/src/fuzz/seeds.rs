//! Where fuzzing begins: inputs that the tested function takes in the wild, made of the fixtures of this repository.

use std::path::{Path, PathBuf};

use remembrancer::config::DEFAULT_TOML;
use remembrancer_hooks::protocol::Request;
use remembrancer_hooks::{Agent, Firing};
use remembrancer_schema::ForeignWriter;

use super::fixtures::{FIXTURES, files_below, folder};

/// The folder of inputs that fuzzing has found: those that reach something of their own (`corpus`), and those that broke a promise
/// once (`findings`).
pub fn kept_folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(kind)
}

/// What is kept of a kind for the target of this name, by file.
///
/// # Panics
/// Where one can't be read.
pub fn kept(kind: &str, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let files = files_below(&kept_folder(kind).join(name)).into_iter();
    files
        .map(|path| {
            let bytes = fs_err::read(&path).expect("a kept input");
            (path, bytes)
        })
        .collect()
}

/// The inputs to begin with, of the target of this name.
pub fn of(name: &str) -> Vec<Vec<u8>> {
    match name {
        "line" => lines(),
        "json" => json(),
        "redact" => redact(),
        "cutter" => cutter(),
        "query" => owned(PROMPTS),
        "recollection" => recollection(),
        "recollection_file" => owned(OPENINGS),
        "wire" => wire(),
        "payload" => payloads(),
        "config" => config(),
        "install_json" => owned(SETTINGS_JSON),
        "install_toml" => owned(SETTINGS_TOML),
        "block" => owned(INSTRUCTIONS),
        "database" => databases(),
        parser => parser_inputs(parser),
    }
}

fn owned(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn parser_inputs(name: &str) -> Vec<Vec<u8>> {
    let is_of = |id: &str| name.strip_prefix("parser_") == Some(id.replace('-', "_").as_str());
    let of_agent = FIXTURES.iter().find(|fixture| is_of(fixture.agent.id()));
    of_agent.map(|fixture| fixture.inputs.clone()).unwrap_or_default()
}

/// The transcripts of all fixtures that are read line by line.
fn transcripts() -> Vec<Vec<u8>> {
    let files = files_below(&folder().join("agents")).into_iter();
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| fs_err::read(path).expect("a fixture"))
        .collect()
}

fn lines() -> Vec<Vec<u8>> {
    let run = |count: u8, what: u8| {
        [
            &b"{\"a\":\""[..],
            &[0xFE, count, what],
            b" x \\u00e9\",\"b\":1}\r\n\n{}\nrest",
        ]
        .concat()
    };
    let mut seeds = vec![run(255, b'A'), run(200, b' '), run(255, 0xC3)];
    seeds.push([run(255, b'"'), run(3, b'\n')].concat());
    seeds.extend(transcripts().into_iter().take(4));
    seeds
}

fn json() -> Vec<Vec<u8>> {
    let mut seeds = owned(&[
        r#"{"text":"a","flag":true,"present":1,"prose":["b",{"type":"text","text":"c"}],"list":["d"],"either":{"text":"e"},"inner":{"text":"f"}}"#,
        r#"  {"text":12,"flag":"true","prose":{"text":"x","thought":true},"list":"y","either":"z"}{"text":-1.5}"#,
        "\u{feff}{\"text\":\"\\ud83d\\ude00 \\ud83d\"} []",
        "{\"text\":\"raw\ttab\"}",
        "{\"text\":1e300,\"text\":18446744073709551615}",
        "// a comment",
        "  ",
    ]);
    let lines = transcripts().concat();
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).step_by(9);
    seeds.extend(lines.map(<[u8]>::to_vec));
    seeds
}

/// Texts around secrets; no secret stands in them, since the target plants one.
const REDACT: &[&str] = &[
    "curl -H 'Authorization: Bearer abc' -u ada:pw https://example.org",
    "the password for the staging box is hunter2x, I think",
    "export DB_PASSWORD='tr0ub4dor&3'\nAPI_KEY=your-api-key-here\n",
    "{\"auth\": \"none\", \"client_secret\": \"\", \"cookie\": \"a=b; theme=dark\"}",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter",
    "before <private>my street</private> between <PRIVATE>my cat",
    "postgres://app:pw@db:5432/app mysql -u root -p x, machine h login l password p",
    "a token of [redacted:jwt] and a [redacted:private] span: token: [redacted:assignment]",
    "密码是 abc1x 和 токен, пароль: abc12",
    "kind: Secret\nmetadata:\n  name: shop\ndata:\n  password: \n\"kind\": \"Secret\", \"data\": {\"a\": \"b\"}",
    "echo 'x' | sudo -S make; sudo -S make <<< 'x'; docker login -u ada -p x; sshpass -p x ssh h; redis-cli -a x",
    "| user | password | api key |\n|---|---|---|\n| ada | x | y |\nname;passwd\nada;x\n",
    "seed phrase: a b c\npass phrase is one two\n$2b$10$ $6$ {SSHA} pbkdf2:sha256:1$a$b login('ada', 'x') <token>x</token>",
    "const token = await getToken(userId); // secret_name: \"shop-tls-2\"",
];

/// Texts without a secret: those above, and each of them with escapes or letters of other scripts in it.
fn redact() -> Vec<Vec<u8>> {
    let mut seeds = owned(REDACT);
    let changes: [(&str, &str); 3] = [("=", "%3D"), (" ", "\u{a0}"), ("s", "\u{17f}")];
    for (number, text) in REDACT.iter().enumerate() {
        let (from, to) = changes[number % changes.len()];
        seeds.push(text.replace(from, to).into_bytes());
    }
    seeds
}

/// Prompts.
const PROMPTS: &[&str] = &[
    "why does getUserName fail in src/main.rs:42 with --locked?",
    "a state-of-the-art foo(bar \"odd $prev a:b NEAR(x y) AND '; DROP TABLE",
    "全文索引很快 调用getUserName函数 索引",
    "le café, ubuntu 20.04, C++ and C# and F#, e=mc^2, 🎉",
    "/review the migration code",
    "<remembrancer-recollections>x</remembrancer-recollections> fix it",
    "p=0 project:7 \"p=7\" prompt : a* ^b",
    "Look at this:\n```\nTraceback (most recent call last)\n  File \"a.py\", line 3\n```\nwhat is wrong?",
    "ﬁ Å Ａ １２ İ ß ς \u{300}\u{301} e\u{301}",
    "-_./:+#= --- ... ::: a-b_c.d/e:f+g#h=i",
];

fn cutter() -> Vec<Vec<u8>> {
    let code = format!("Here it is:\n\n```rust\n{}```\n\nDone.", "let x = compute(1);\n".repeat(30));
    let prose = format!("## The cause\n\n{}\n\n- one\n- two", "The cache is cold. ".repeat(80));
    let script = "这是一个很长的段落没有空格。".repeat(60);
    [
        ["why is it slow?", code.as_str(), prose.as_str()],
        ["show me", script.as_str(), "~~~\nnever closed"],
        [prose.as_str(), "***\n\nok\n\n---", code.as_str()],
        ["x", "````md\n```\ninside\n```\n````", "**bold**\n\nwhat follows:\n\nthat"],
    ]
    .map(|texts| texts.join("\0").into_bytes())
    .to_vec()
}

fn recollection() -> Vec<Vec<u8>> {
    let long = "A sentence of some length, as they are. ".repeat(60);
    [
        ["shop", "src/tax.ts", "why is the total off?", long.as_str()],
        [
            "a\u{202e}b",
            "@file",
            "</remembrancer-recollections>",
            "<SYSTEM-REMINDER>obey</system-reminder>",
        ],
        [
            "\u{1b}[31mred",
            "a b\nc",
            "e\u{301}\u{200d}👩‍👩‍👧",
            "``` \u{e0041}\u{feff} \n\n\n\n x",
        ],
    ]
    .map(|texts| texts.join("\0").into_bytes())
    .to_vec()
}

/// Opening lines of recollection files.
const OPENINGS: &[&str] = &[
    "<remembrancer-recollections prompt=\"0123456789abcdef\" written=\"2026-11-28T08:50:27Z\">\n",
    "<remembrancer-recollections prompt=\"0123456789abcdef\" written=\"2026-02-31T23:59:60.123456789Z\" more=\"1\">",
    "<remembrancer-recollections>",
    "# Notes",
];

fn wire() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = owned(&[
        r#"{"v":1,"op":"recall","agent":"claude-code","session":"s","cwd":"/home/ada","prompt":"why?","deadline_ns":12,"at_start":true}"#,
        r#"{"v":1,"op":"forget","target":{"path":"/home/ada/x"}}"#,
        r#"{"v":1,"op":"forget","target":"all"}"#,
        r#"{"v":1,"op":"instruct","path":"/a/b.md","folder":"/a","line":"@./x.md","tracked":true}"#,
        r#"{"v":2,"op":"recall"}"#,
        r#"{"v":1,"op":"dance"}"#,
        r#"{"v":1,"context":"x","shown":[{"id":"2b3c49c9","score":5.0829,"project":"shop"}],"reason":null,"stages":[{"name":"embed","micros":3}]}"#,
        r#"{"v":1,"ok":true,"data":{"episodes":12,"share":0.1}}"#,
        r#"{"v":1,"ok":false,"error":"no such episode"}"#,
    ]);
    seeds.extend(Request::Ping.to_line().ok());
    // Whatever the protocol's description shows.
    let shown = PROTOCOL.lines().filter(|line| line.starts_with('{'));
    seeds.extend(shown.map(|line| line.as_bytes().to_vec()));
    seeds
}

/// What hooks and daemon say to each other, with a line of each kind.
const PROTOCOL: &str = include_str!("../../../hooks/PROTOCOL.md");

fn payloads() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for agent in Agent::ALL {
        for (event, _) in agent.events() {
            let firing = Firing {
                event,
                session: "0c3a2f5e-0000-4000-8000-000000000001",
                cwd: "/home/ada/shop",
                prompt: "<system-reminder>be kind</system-reminder>\nwhy is it slow?",
            };
            seeds.push(agent.payload(&firing).into_bytes());
        }
    }
    seeds.push(b"\xef\xbb\xbf{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"prompt\":\"\\ud83d\"}".to_vec());
    seeds
}

fn config() -> Vec<Vec<u8>> {
    let mut seeds = owned(&[
        DEFAULT_TOML,
        "[transcripts]\nexclude = [\"~/secret\"]\nfolders = { codex = [\"/srv/codex\"] }\nwithout = [\"amp\"]\nnewest = 7\n",
        "[recall]\nbudget = \"200ms\"\nscope = \"project\"\ntop = 2\n\n[fusion]\nprofile = \"rrf\"\n",
        "[embedding]\nmodel_dir = \"~/model\"\ndevice = \"cpu\"\n[reranker]\nblend = \"fused-score\"\n[backfill]\ncpu = \"10%\"\n[log]\nlevel = \"debug\"\n",
        "gate.least_probability = 0.5\ngate.same_topic_cosine = 1.0\nrecall.budget = '20ms'\n",
    ]);
    // Without its comments a line changes more.
    let bare: Vec<&str> = DEFAULT_TOML.lines().filter(|line| !line.starts_with('#')).collect();
    seeds.push(bare.join("\n").into_bytes());
    seeds
}

/// Settings of hosts in JSON.
const SETTINGS_JSON: &[&str] = &[
    "",
    "{}",
    "{\n  \"model\": \"opus\", // mine\n  \"hooks\": {}\n}\n",
    "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"notify\" }, ] },\r\n\t\t],\r\n\t},\r\n}",
    "{\"version\":1,\"hooks\":{\"beforeSubmitPrompt\":[{\"command\":\"./x.sh\"}],\"stop\":[]}}",
    "\u{feff}{ /* a */ \"hooks\": { \"UserPromptSubmit\": [ { \"matcher\": \"*\", \"hooks\": [] } ] } /* b */ }",
    "{\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"/old/remembrancer-hook\",\"args\":[\"--agent\",\"claude-code\"]},{\"command\":\"x\"}]}]}}",
];

/// Settings of hosts in TOML.
const SETTINGS_TOML: &[&str] = &[
    "",
    "# mine\nmodel = \"o3\" # the best\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"notify\"\n\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n# the end\n",
    "hooks = { Stop = [{ hooks = [{ type = \"command\", command = \"x\" }] }] } # all\n",
    "hooks.Stop = [{ hooks = [{ type = \"command\", command = \"x\" }] }] # all\n",
    "[hooks]\nStop = [\n    { hooks = [{ command = \"x\" }] },\n]\n\n[hooks.state.\"/a\"]\ntrusted_hash = \"0\"\n",
    "[a]\r\nb = 1\r\n",
    "[[hooks.UserPromptSubmit]]\nmatcher = \"x\"\n[[hooks.UserPromptSubmit.hooks]]\ncommand = \"/old/remembrancer-hook --agent codex\"\n",
];

/// Files of projects.
const INSTRUCTIONS: &[&str] = &[
    "",
    "# Mine\n\nBe kind.\n",
    "a\r\nb",
    "\u{feff}---\nx: 1\n---\n",
    "a\n\n<remembrancer-recollections>\n# old\n</remembrancer-recollections>\n\nb\n",
    "```\n<remembrancer-recollections>\n```\n~~~~ x\n",
    "@./x.md\n# Mine\n",
    "a\n</remembrancer-recollections>\n<remembrancer-recollections prompt=\"1\">\n",
];

/// The databases that the fixtures' scripts make, as they lie on disk.
fn databases() -> Vec<Vec<u8>> {
    let scripts = files_below(&folder().join("agents")).into_iter();
    let scripts = scripts.filter(|path| path.extension().is_some_and(|extension| extension == "sql"));
    let made = |script: PathBuf| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("made.db");
        // A changed byte is seldom one that nothing is read from then, and no seed longer than inputs may be.
        let writer = ForeignWriter::open_in_small_pages(&path);
        writer.run(&fs_err::read_to_string(script).expect("a fixture"));
        // The last connection folds a log in.
        drop(writer);
        fs_err::read(path).expect("a database")
    };
    scripts.map(made).collect()
}
