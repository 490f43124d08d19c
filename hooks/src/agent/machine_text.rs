//! Which prompts are no person's: a client runs its hooks for notices of its own and for other agents' messages, too. A prompt comes
//! in, a yes or no goes out. The parser of the same agent's transcripts knows more such texts, since it is shown more.

/// A host's machine text.
pub(crate) struct MachineText {
    /// Beginnings of prompts that are machine text to their end.
    pub(crate) starts: &'static [&'static str],
    /// Names of elements that the client puts before what a person said, or in its place.
    pub(crate) elements: &'static [&'static str],
}

impl MachineText {
    /// Of a host that asks for people's prompts alone.
    pub(crate) const NONE: Self = Self {
        starts: &[],
        elements: &[],
    };

    /// Whether all of a prompt is machine text. A prompt that only mentions such text is not, nor is an empty one.
    pub(crate) fn is_all_of(&self, prompt: &str) -> bool {
        let mut rest = prompt.trim();
        if rest.is_empty() {
            return false;
        }
        while !self.starts.iter().any(|start| rest.starts_with(start)) {
            match self.behind_element(rest) {
                Some(behind) => rest = behind.trim_start(),
                None => return rest.is_empty(),
            }
        }
        true
    }

    /// What follows the client's element that a text begins with; nothing where the element has no end.
    fn behind_element<'a>(&self, text: &'a str) -> Option<&'a str> {
        let tag = text.strip_prefix('<')?;
        let name = self.elements.iter().find(|name| {
            let after = tag.strip_prefix(**name);
            after.is_some_and(|after| after.starts_with(['>', ' ', '\n']))
        })?;
        let close = format!("</{name}>");
        Some(text.split_once(&close).map_or("", |(_, behind)| behind))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const TEXT: MachineText = MachineText {
        starts: &["<notice>", "Stop feedback:"],
        elements: &["reminder"],
    };

    #[rstest]
    #[case::start("<notice>done</notice>", true)]
    #[case::start_after_blanks("\n  Stop feedback:\nnot yet", true)]
    #[case::element("<reminder>be kind</reminder>", true)]
    #[case::element_with_attributes("<reminder a=\"b\">be kind</reminder>\n", true)]
    #[case::element_without_end("<reminder>be", true)]
    #[case::two_elements("<reminder>a</reminder><reminder>b</reminder>", true)]
    #[case::element_before_a_start("<reminder>a</reminder>\n<notice>done", true)]
    #[case::element_before_words("<reminder>be kind</reminder>\nfix it", false)]
    #[case::mentioned("what is a <notice> for?", false)]
    #[case::a_longer_name("<reminders>a</reminders>", false)]
    #[case::another_element("<div>why?</div>", false)]
    #[case::words("fix it", false)]
    #[case::blank(" \n", false)]
    fn only_what_is_all_machine_text(#[case] prompt: &str, #[case] expected: bool) {
        assert_eq!(TEXT.is_all_of(prompt), expected);
        assert!(!MachineText::NONE.is_all_of(prompt));
    }

    proptest! {
        #[test]
        fn any_text_is_judged(prompt in "(<reminder>?|</reminder>|.){0,6}") {
            TEXT.is_all_of(&prompt);
        }
    }
}
