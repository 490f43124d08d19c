//! The pictures of `docs/retrieval.md`: what `explain --json` says of one prompt comes in, drawings go out. Nothing in them is made up:
//! ranks, scores, floor and times are those of the run.
//!
//! Each brings its own background, light or dark as its reader's system is, so that it can be read on any page.

mod floor;
mod ranks;
mod svg;
mod times;

use serde_json::Value;

use super::is_printed;

/// The prompt that is drawn: that of `remembrancer try --samples`.
pub const PROMPT: &str = "customers say the amount on the bill is off by a penny, where do we cut instead of rounding?";

/// A drawing.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Its file below `docs/images`.
    pub name: &'static str,
    /// The drawing.
    pub svg: String,
    /// Whether its numbers differ from run to run.
    of_times: bool,
}

impl Picture {
    /// Whether `stored` shows the same: the same words and ranks, scores that are near, any times.
    pub fn is_same(&self, stored: &str) -> bool {
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines();
            if self.of_times {
                lines.map(without_numbers).collect()
            } else {
                lines.map(str::to_owned).collect()
            }
        };
        is_printed(&lines(stored), &lines(&self.svg))
    }
}

/// All of them, of one explanation.
///
/// # Panics
/// Where it is none of a prompt for which something was shown.
pub fn all(explanation: &Value) -> [Picture; 3] {
    let candidates = explanation["candidates"]
        .as_array()
        .expect("invariant: an explanation has candidates");
    assert!(
        candidates.iter().any(|candidate| candidate["shown"] == 1),
        "nothing was shown: {explanation:#}"
    );
    [
        Picture {
            name: "retrieval-ranks.svg",
            svg: ranks::draw(explanation),
            of_times: false,
        },
        Picture {
            name: "retrieval-floor.svg",
            svg: floor::draw(explanation),
            of_times: false,
        },
        Picture {
            name: "retrieval-times.svg",
            svg: times::draw(explanation),
            of_times: true,
        },
    ]
}

/// The candidates.
fn candidates(explanation: &Value) -> &[Value] {
    explanation["candidates"].as_array().map_or(&[], Vec::as_slice)
}

/// A candidate's question, shortened to `most` letters.
fn asked(candidate: &Value, most: usize) -> String {
    let asked = candidate["asked"].as_str().unwrap_or_default();
    if asked.chars().count() <= most {
        return asked.to_owned();
    }
    let cut: String = asked.chars().take(most).collect();
    // At the end of a word; the ellipsis would stand for anything when two are compared.
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{} ...", words.trim_end_matches([',', '.', ':']))
}

/// A line with `0` for each of its numbers.
fn without_numbers(line: &str) -> String {
    let mut kept = String::new();
    let mut is_number = false;
    for c in line.chars() {
        let is_part = c.is_ascii_digit() || (is_number && c == '.');
        if is_part && !is_number {
            kept.push('0');
        } else if !is_part {
            kept.push(c);
        }
        is_number = is_part;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(svg: &str, of_times: bool) -> Picture {
        Picture {
            name: "x.svg",
            svg: svg.to_owned(),
            of_times,
        }
    }

    #[test]
    fn a_picture_is_the_same_where_its_words_and_ranks_are() {
        let scores = picture("<text x=\"10\">score 5.02</text>", false);
        assert!(scores.is_same("<text x=\"10\">score 5.08</text>"));
        assert!(!scores.is_same("<text x=\"11\">score 5.02</text>") && !scores.is_same("<text x=\"10\">score 3.02</text>"));
        let times = picture("<rect width=\"12.5\"/>\n<text>meaning 31.0 ms</text>", true);
        assert!(times.is_same("<rect width=\"99.0\"/>\n<text>meaning 7 ms</text>"));
        assert!(!times.is_same("<rect width=\"12.5\"/>\n<text>words 31.0 ms</text>"));
        assert!(!times.is_same(""));
    }

    #[test]
    fn a_long_question_is_cut_at_a_word() {
        let candidate = serde_json::json!({"asked": "Why does CI take nine minutes?"});
        assert_eq!(asked(&candidate, 40), "Why does CI take nine minutes?");
        assert_eq!(asked(&candidate, 14), "Why does CI ...");
    }
}
