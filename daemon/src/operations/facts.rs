//! Facts that the user has remembered. A text and a folder come in; the fact is looked at before anything of it is stored, and, where that
//! is all that is asked, nothing is.

use std::sync::Arc;

use serde_json::Value;

use super::{Operations, Refusal};
use crate::clock;
use crate::control::{self, NewFact};
use crate::store::NoAnswer;

impl Operations {
    pub(super) async fn remember(&self, text: String, project: Option<String>) -> Result<Value, Refusal> {
        let fact = self.new_fact(text, project).await?;
        let writer = &self.recaller.writer;
        let value = writer
            .call(move |writer| control::remember(writer, &fact, clock::now()))
            .await??;
        self.something_came();
        Ok(value)
    }

    /// What a fact would come to that is remembered now. Nothing is stored.
    ///
    /// # Errors
    /// Where it would not be remembered, or in a folder that is not there.
    pub(crate) async fn would_remember(&self, text: String, project: Option<String>) -> Result<Value, Refusal> {
        let fact = self.new_fact(text, project.clone()).await?;
        let folders = Arc::clone(&self.recaller.folders);
        let is_gone = move || project.is_some_and(|folder| control::is_gone(&folders, &folder));
        let is_gone = tokio::task::spawn_blocking(is_gone).await.map_err(|_| NoAnswer::Closed)?;
        self.read(move |reader| {
            if is_gone {
                control::refuse_nowhere(reader, &fact)?;
            }
            Ok(fact.told())
        })
        .await
    }

    /// A fact that may be remembered.
    async fn new_fact(&self, text: String, project: Option<String>) -> Result<NewFact, Refusal> {
        let folders = Arc::clone(&self.recaller.folders);
        // Git may be asked, which starts a process.
        let fact = tokio::task::spawn_blocking(move || NewFact::new(&folders, &text, project.as_deref()))
            .await
            .map_err(|_| NoAnswer::Closed)??;
        let (exclusions, asked) = (self.recaller.exclusions.clone(), fact.clone());
        self.read(move |reader| control::may_remember(reader, &exclusions, &asked, clock::now()))
            .await?;
        Ok(fact)
    }
}
