//! Writes the built-in model's vectors of a JSON list of texts on standard input to standard output, as raw little-endian
//! f32: what `packaging/model/check.py SOURCE against` compares with the source model's.

use std::io::{Read, Write};

use remembrancer_processor::embed::{BertEmbedder, Embed};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let texts: Vec<String> = serde_json::from_str(&input)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut output = std::io::stdout().lock();
    for embedding in BertEmbedder::embedded()?.embed_passages(&texts)? {
        let bytes: Vec<u8> = embedding.as_slice().iter().flat_map(|value| value.to_le_bytes()).collect();
        output.write_all(&bytes)?;
    }
    Ok(())
}
