//! What is odd in agents' transcripts, and what comes of it: a test a number of the list of oddities, named
//! `oddity_NN_<what is wanted>`, on the public transcripts of `$REMEMBRANCER_SHARED` where they are there, and on lines of our
//! own where the rule is general. `docs/formats.md` lists them all.

mod antigravity;
mod claude_code;
mod claude_order;
mod claude_words;
mod codex;
mod copilot_cli;
mod cursor;
mod droid;
mod every_transcript;
mod gemini;
mod grok;
mod hermes;
mod kimi;
mod lines;
mod numbers;
mod opencode;
mod pi;
mod qwen;
mod shared;
