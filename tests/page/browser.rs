//! A browser of a test's own: started, driven, looked at, and closed whatever the test comes to.

use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use remembrancer_tests::{skip, within};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::PATIENCE;

/// One browser at a time: a machine of tests is small.
static ONE: Mutex<()> = Mutex::new(());

/// Where the browser may be, and what drives it.
const BROWSERS: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const DRIVERS: [&str; 2] = ["/usr/bin/chromedriver", "/usr/lib/chromium-browser/chromedriver"];

/// A program that is there.
fn installed(places: &[&'static str]) -> Option<&'static str> {
    places.iter().copied().find(|place| Path::new(place).is_file())
}

/// Runs `test` with a browser; passes it over, with its reason, where there is none.
pub(crate) fn browse(test: impl FnOnce(&Browser)) {
    let (Some(browser), Some(driver)) = (installed(&BROWSERS), installed(&DRIVERS)) else {
        let reason = "chromium and chromedriver are needed, which Debian's packages chromium and chromium-driver have";
        assert!(std::env::var_os("REMEMBRANCER_REQUIRE_BROWSER").is_none(), "{reason}");
        skip(reason);
        return;
    };
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let driver = Driver::start(driver);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let profile = tempfile::tempdir().unwrap();
    let client = runtime.block_on(open(&driver, browser, profile.path()));
    let browser = Browser { runtime, client };
    let outcome = catch_unwind(AssertUnwindSafe(|| test(&browser)));
    browser.runtime.block_on(browser.client.clone().close()).ok();
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

async fn open(driver: &Driver, browser: &str, profile: &Path) -> Client {
    let arguments = [
        "--headless=new".to_owned(),
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--no-first-run".to_owned(),
        "--hide-scrollbars".to_owned(),
        "--force-color-profile=srgb".to_owned(),
        "--window-size=1280,900".to_owned(),
        format!("--user-data-dir={}", profile.display()),
    ];
    let capabilities = json!({
        "goog:chromeOptions": {"binary": browser, "args": arguments},
        "goog:loggingPrefs": {"browser": "ALL"},
    });
    let Value::Object(capabilities) = capabilities else {
        unreachable!("an object was written")
    };
    let address = format!("http://127.0.0.1:{}", driver.port);
    ClientBuilder::new(HttpConnector::new())
        .capabilities(capabilities)
        .connect(&address)
        .await
        .unwrap()
}

/// What drives the browser, killed when it is dropped.
struct Driver {
    child: Child,
    port: u16,
}

impl Driver {
    fn start(program: &str) -> Self {
        let mut child = Command::new(program)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().expect("invariant: stdout is piped")).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            let (_, rest) = line.split_once("started successfully on port ")?;
            rest.trim_end_matches('.').parse().ok()
        });
        // What it says further is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self {
            child,
            port: port.expect("chromedriver says at which port it listens"),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A browser with one page.
pub(crate) struct Browser {
    runtime: Runtime,
    client: Client,
}

/// A command that only Chromium knows.
#[derive(Debug)]
struct OfChromium {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for OfChromium {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

impl Browser {
    fn issue(&self, path: &'static str, body: Value) -> Value {
        self.runtime
            .block_on(self.client.issue_cmd(OfChromium { path, body }))
            .unwrap()
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        self.issue("goog/cdp/execute", json!({"cmd": command, "params": parameters}));
    }

    /// Goes to an address.
    pub(crate) fn goto(&self, address: &str) {
        self.runtime.block_on(self.client.goto(address)).unwrap();
    }

    /// Where it is.
    pub(crate) fn address(&self) -> String {
        self.runtime.block_on(self.client.current_url()).unwrap().to_string()
    }

    /// Makes it as wide and as high as this, whatever a window may be.
    pub(crate) fn size(&self, width: u32, height: u32) {
        let parameters = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", &parameters);
    }

    /// Has it prefer light or dark.
    pub(crate) fn prefer(&self, scheme: &str) {
        let features =
            json!([{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]);
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Lets pages run script, or not.
    pub(crate) fn script(&self, runs: bool) {
        self.devtools("Emulation.setScriptExecutionDisabled", &json!({"value": !runs}));
    }

    /// What a script of the test says of the page.
    pub(crate) fn tell(&self, script: &str) -> Value {
        self.runtime.block_on(self.client.execute(script, Vec::new())).unwrap()
    }

    /// The text of the first element that `selector` names; none where there is none.
    pub(crate) fn text(&self, selector: &str) -> Option<String> {
        let found = self.runtime.block_on(self.client.find(Locator::Css(selector))).ok()?;
        self.runtime.block_on(found.text()).ok()
    }

    /// Clicks what `selector` names.
    pub(crate) fn click(&self, selector: &str) {
        let found = self.runtime.block_on(self.client.find(Locator::Css(selector))).unwrap();
        self.runtime.block_on(found.click()).unwrap();
    }

    /// Writes into what `selector` names.
    pub(crate) fn write(&self, selector: &str, text: &str) {
        let found = self.runtime.block_on(self.client.find(Locator::Css(selector))).unwrap();
        self.runtime.block_on(found.send_keys(text)).unwrap();
    }

    /// Presses keys one after the other, wherever the focus is.
    pub(crate) fn press(&self, keys: &str) {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for value in keys.chars() {
            actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.runtime.block_on(self.client.perform_actions(actions)).unwrap();
    }

    /// Waits until `look` gives something.
    pub(crate) fn wait_for<T>(&self, what: &str, look: impl FnMut() -> Option<T>) -> T {
        within(PATIENCE, look)
            .unwrap_or_else(|| panic!("waited in vain for {what} at {}: {:?}", self.address(), self.text("main")))
    }

    /// What it has complained about since the last time: errors of scripts, refusals of the policy, what could not be loaded.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.issue("se/log", json!({"type": "browser"}));
        let said = log.as_array().into_iter().flatten();
        let grave = said.filter(|line| line["level"] != "INFO" && line["level"] != "DEBUG");
        grave
            .map(|line| line["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// What is seen, as PNG.
    pub(crate) fn picture(&self) -> Vec<u8> {
        self.runtime.block_on(self.client.screenshot()).unwrap()
    }
}

/// Keys that are no characters, as `WebDriver` writes them.
pub(crate) mod keys {
    pub(crate) const ENTER: &str = "\u{e007}";
    pub(crate) const TAB: &str = "\u{e004}";
    pub(crate) const ESCAPE: &str = "\u{e00c}";
    pub(crate) const DOWN: &str = "\u{e015}";
}
