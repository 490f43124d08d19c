//! A piece of a stored text around what was searched for.
//!
//! In: a text that is fit to be shown (`clean`), and the query's terms. Out: one line of a bounded length, and where in it the terms
//! stand. What matches is judged by the analysis of the index, so that "tests" marks "testing", and `main` marks `src/main.rs`.

use std::collections::HashSet;
use std::ops::Range;

use remembrancer_schema::for_each_term;

/// A word is marked as a whole up to this many characters; in a longer one, such as a line of a script without spaces, what is
/// written as the terms are.
const LONGEST_MARKED: usize = 60;
/// The share of a snippet that comes before the first match, so that it is read in its sentence.
const LEAD: usize = 4;
/// Stands for what is left out.
const ELLIPSIS: char = '…';

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// One line.
    pub text: String,
    /// Where it holds terms, in characters (Unicode scalar values), in order.
    pub marks: Vec<Range<usize>>,
    /// How many different terms it holds.
    pub terms: usize,
}

/// A text in one line, with the places of the terms.
struct Line {
    chars: Vec<char>,
    /// Where a term stands, and which.
    marks: Vec<(Range<usize>, Vec<usize>)>,
}

/// The piece of `text`, of `width` characters at most, that holds most of the terms: the first of those that hold as many; the text's
/// beginning where there are none.
pub fn snippet(text: &str, terms: &[String], width: usize) -> Snippet {
    let line = Line::of(text, terms);
    let best = line.best(width);
    line.cut(best, width)
}

impl Line {
    fn of(text: &str, terms: &[String]) -> Self {
        let mut line = Self {
            chars: Vec::with_capacity(text.len()),
            marks: Vec::new(),
        };
        for word in text.split_whitespace() {
            if !line.chars.is_empty() {
                line.chars.push(' ');
            }
            let start = line.chars.len();
            line.chars.extend(word.chars());
            line.mark(word, start, terms);
        }
        line
    }

    /// Marks what of a word the terms name.
    fn mark(&mut self, word: &str, start: usize, terms: &[String]) {
        let mut found = Vec::new();
        for_each_term(word, &mut |term| {
            found.extend(terms.iter().position(|wanted| wanted == term));
        });
        if found.is_empty() {
            return;
        }
        found.sort_unstable();
        found.dedup();
        let end = self.chars.len();
        if end - start <= LONGEST_MARKED {
            // Not the marks around it.
            let is_edge = |c: &char| !c.is_alphanumeric();
            let lead = self.chars[start..].iter().take_while(|c| is_edge(c)).count();
            let trail = self.chars[start + lead..].iter().rev().take_while(|c| is_edge(c)).count();
            self.marks.push((start + lead..end - trail, found));
            return;
        }
        let mut written: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
        for term in found {
            let letters: Vec<char> = terms[term].chars().collect();
            let places = self.chars[start..].windows(letters.len().max(1)).enumerate();
            let places = places.filter(|(_, window)| window.iter().zip(&letters).all(|(a, b)| a.to_lowercase().eq([*b])));
            written.extend(places.map(|(at, _)| (start + at..start + at + letters.len(), vec![term])));
        }
        written.sort_by_key(|(place, _)| (place.start, place.end));
        for (place, terms) in written {
            match self.marks.last_mut() {
                // Terms of such scripts overlap.
                Some((before, known)) if before.end >= place.start => {
                    before.end = before.end.max(place.end);
                    known.extend(terms);
                }
                _ => self.marks.push((place, terms)),
            }
        }
    }

    /// The number of the mark with which the best piece begins.
    fn best(&self, width: usize) -> usize {
        let room = width - width / LEAD;
        let mut best = (0, 0);
        for (number, (first, _)) in self.marks.iter().enumerate() {
            let inside = self.marks[number..]
                .iter()
                .take_while(|(mark, _)| mark.end <= first.start + room);
            let different: HashSet<usize> = inside.flat_map(|(_, terms)| terms.iter().copied()).collect();
            if different.len() > best.1 {
                best = (number, different.len());
            }
        }
        best.0
    }

    /// The piece that begins somewhat before a mark.
    fn cut(&self, mark: usize, width: usize) -> Snippet {
        let first = self.marks.get(mark).map_or(0, |(place, _)| place.start);
        let range = self.piece(first, width);
        let mut text = String::new();
        if range.start > 0 {
            text.push(ELLIPSIS);
        }
        let shift = usize::from(range.start > 0);
        text.extend(&self.chars[range.clone()]);
        if range.end < self.chars.len() {
            text.push(ELLIPSIS);
        }
        let inside = self
            .marks
            .iter()
            .filter(|(place, _)| place.start >= range.start && place.end <= range.end);
        let different: HashSet<usize> = inside.clone().flat_map(|(_, terms)| terms.iter().copied()).collect();
        Snippet {
            marks: inside
                .map(|(place, _)| place.start - range.start + shift..place.end - range.start + shift)
                .collect(),
            terms: different.len(),
            text,
        }
    }

    /// From where to where it goes: whole words, unless one is longer than there is room.
    fn piece(&self, first: usize, width: usize) -> Range<usize> {
        let room = width.saturating_sub(2).max(1);
        if self.chars.len() <= width {
            return 0..self.chars.len();
        }
        let blank_before = |at: usize| at == 0 || self.chars[at - 1] == ' ';
        let lead = first.saturating_sub(room / LEAD);
        // Not more of the end than there is: the beginning is filled up instead.
        let latest = self.chars.len() - room.min(self.chars.len());
        let lead = lead.min(latest);
        let start = (lead..=first).find(|at| blank_before(*at)).unwrap_or(lead);
        let end = (start + room).min(self.chars.len());
        let ends_a_word = |at: usize| at == self.chars.len() || self.chars[at] == ' ';
        let end = (start + room / 2..=end).rev().find(|at| ends_a_word(*at)).unwrap_or(end);
        start..end
    }
}

#[cfg(test)]
mod tests;
