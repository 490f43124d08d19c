//! A client of the protocol by its own library, with a user who answers in one way or can't be asked.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};

use remembrancer_tests::Sandbox;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
    Implementation, ListRootsResult, Root,
};
use rmcp::service::{ClientLifecycleMode, RequestContext, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientServiceExt as _, ServiceError};
use serde_json::{Value, json};

pub(super) fn block<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work)
}

/// A client with a user who answers questions in one way.
#[derive(Clone, Default)]
pub(super) struct Person {
    /// What the user answers; a client without one can't ask.
    pub(super) answer: Option<ElicitResult>,
    /// What the user was asked.
    pub(super) asked: Arc<Mutex<Vec<String>>>,
    /// Where the client works; one without says nothing.
    pub(super) root: Option<String>,
}

impl Person {
    pub(super) fn who(action: ElicitationAction, content: Option<Value>) -> Self {
        let mut answer = ElicitResult::new(action);
        answer.content = content;
        Self {
            answer: Some(answer),
            ..Self::default()
        }
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities = match (&self.answer, &self.root) {
            (Some(_), _) => serde_json::from_value(json!({"elicitation": {}})).unwrap(),
            (None, Some(_)) => serde_json::from_value(json!({"roots": {"listChanged": true}})).unwrap(),
            (None, None) => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("a test", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            panic!("a form is asked for");
        };
        self.asked.lock().unwrap().push(message);
        Ok(self.answer.clone().unwrap())
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let root = self.root.as_ref().map(|folder| Root::new(format!("file://{folder}")));
        Ok(ListRootsResult::new(root.into_iter().collect()))
    }
}

/// A client of a server that runs.
pub(super) struct Client(pub(super) RunningService<RoleClient, Person>);

/// What a tool gave.
pub(super) struct Given {
    pub(super) text: String,
    pub(super) structured: Value,
    pub(super) is_error: bool,
}

impl Client {
    pub(super) async fn of(sandbox: &Sandbox, folder: &Path) -> Self {
        Self::with(sandbox, folder, Person::default(), ClientLifecycleMode::Initialize).await
    }

    pub(super) async fn with(sandbox: &Sandbox, folder: &Path, person: Person, lifecycle: ClientLifecycleMode) -> Self {
        let mut command = sandbox.command(&["mcp"]);
        command.current_dir(folder);
        let server = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
        Self(person.serve_with_lifecycle(server, lifecycle).await.unwrap())
    }

    pub(super) async fn try_call(&self, tool: &'static str, arguments: Value) -> Result<Given, ServiceError> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let result = self
            .0
            .call_tool(CallToolRequestParams::new(tool).with_arguments(arguments))
            .await?;
        let texts = result.content.iter().filter_map(|content| content.as_text());
        let text = texts.map(|text| text.text.clone()).collect();
        Ok(Given {
            text,
            structured: result.structured_content.unwrap_or_default(),
            is_error: result.is_error.unwrap_or_default(),
        })
    }

    pub(super) async fn call(&self, tool: &'static str, arguments: Value) -> Given {
        let given = self.try_call(tool, arguments.clone()).await.unwrap();
        assert!(!given.is_error, "{tool} {arguments}: {}", given.text);
        given
    }

    pub(super) async fn refused(&self, tool: &'static str, arguments: Value) -> String {
        let given = self.try_call(tool, arguments.clone()).await.unwrap();
        assert!(given.is_error, "{tool} {arguments}: {}", given.text);
        given.text
    }

    pub(super) async fn end(self) {
        self.0.cancel().await.unwrap();
    }
}
