//! How well secrets are told from what only looks like one, on a generated corpus: made-up tokens of every shape in the
//! contexts in which people and programs write them, and decoys in the same contexts. The same corpus at every run.

use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

use super::redact;

/// Texts made of each shape in each context.
const SAMPLES: usize = 4;
/// Least share of secrets that are gone wholly, and most of decoys that are touched.
const LEAST_RECALL: f64 = 0.99;
const MOST_FALSE: f64 = 0.005;

/// Characters in a row that are of use to whoever finds them.
const LEFT: usize = 8;

/// Tokens that are known by their shape, wherever they stand.
const SHAPED: &[(&str, &str)] = &[
    ("aws", "AKIA[A-Z2-7]{16}"),
    ("aws-session", "ASIA[A-Z2-7]{16}"),
    ("gcp", "AIza[0-9A-Za-z_-]{35}"),
    ("gcp-oauth", "GOCSPX-[A-Za-z0-9_-]{28}"),
    ("gcp-access", "ya29\\.[A-Za-z0-9_-]{80}"),
    ("alibaba", "LTAI[A-Za-z0-9]{20}"),
    ("digitalocean", "do[opr]_v1_[a-f0-9]{64}"),
    ("heroku", "HRKU-[A-Za-z0-9_-]{60}"),
    ("cloudflare", "cf(k|ut|at)_[A-Za-z0-9]{48}"),
    ("vercel", "vc[pk]_[A-Za-z0-9]{56}"),
    ("aws-token", "IQoJb3JpZ2luX2Vj[A-Za-z0-9+/]{120}"),
    ("openshift", "sha256~[A-Za-z0-9_-]{42}[A-Za-z0-9]"),
    ("databricks", "dapi[a-f0-9]{32}"),
    ("planetscale", "pscale_(tkn|pw|oauth)_[A-Za-z0-9_-]{43}"),
    ("supabase", "sbp_[a-f0-9]{40}"),
    ("fly", "fo1_[A-Za-z0-9_-]{43}"),
    ("vault", "hv[sb]\\.[A-Za-z0-9_-]{90}"),
    ("terraform", "[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{67}"),
    ("pulumi", "pul-[a-f0-9]{40}"),
    ("doppler", "dp\\.(pt|st|ct)\\.[A-Za-z0-9]{43}"),
    ("tailscale", "tskey-(auth|api)-[A-Za-z0-9]{11}CNTRL-[A-Za-z0-9]{32}"),
    ("github", "gh[pousr]_[A-Za-z0-9]{36}"),
    ("github-fine", "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    ("gitlab", "gl(pat|dt|rt|oas|ft|imt|agent|soat)-[A-Za-z0-9_-]{20}"),
    ("bitbucket", "ATBB[A-Za-z0-9]{32}"),
    ("atlassian", "ATATT3[A-Za-z0-9_=-]{180}"),
    ("buildkite", "bkua_[a-f0-9]{40}"),
    ("circleci", "CCIPAT_[A-Za-z0-9]{22}_[a-f0-9]{40}"),
    ("docker-hub", "dckr_(pat|oat)_[A-Za-z0-9_-]{27}"),
    ("npm", "npm_[A-Za-z0-9]{36}"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{70}"),
    ("rubygems", "rubygems_[a-f0-9]{48}"),
    ("crates", "cio[A-Za-z0-9]{32}"),
    ("nuget", "oy2[a-z0-9]{43}"),
    ("clojars", "CLOJARS_[a-z0-9]{60}"),
    ("anthropic", "sk-ant-(api|admin)03-[A-Za-z0-9_-]{93}AA"),
    ("openai", "sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    (
        "openai-project",
        "sk-(proj|svcacct|admin)-[A-Za-z0-9_-]{74}T3BlbkFJ[A-Za-z0-9_-]{74}",
    ),
    ("openrouter", "sk-or-v1-[a-f0-9]{64}"),
    ("deepseek", "sk-[a-f0-9]{32}"),
    ("huggingface", "hf_[A-Za-z]{34}"),
    ("cerebras", "csk-[a-z0-9]{48}"),
    ("fireworks", "fw_[A-Za-z0-9]{24}"),
    ("gemini", "AQ\\.Ab[A-Za-z0-9_-]{50}"),
    ("pinecone", "pcsk_[A-Za-z0-9]{6}_[A-Za-z0-9]{60}"),
    ("tavily", "tvly-(dev-)?[A-Za-z0-9]{32}"),
    ("groq", "gsk_[A-Za-z0-9]{52}"),
    ("xai", "xai-[A-Za-z0-9]{80}"),
    ("perplexity", "pplx-[A-Za-z0-9]{48}"),
    ("replicate", "r8_[A-Za-z0-9]{37}"),
    ("together", "tgp_v1_[A-Za-z0-9_-]{43}"),
    ("nvidia", "nvapi-[A-Za-z0-9_-]{64}"),
    ("langsmith", "lsv2_(pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    ("stripe", "[sr]k_(live|test)_[A-Za-z0-9]{24}"),
    ("stripe-hook", "whsec_[A-Za-z0-9]{32}"),
    ("square", "sq0(atp|csp)-[A-Za-z0-9_-]{43}"),
    ("razorpay", "rzp_(live|test)_[A-Za-z0-9]{14}"),
    (
        "plaid",
        "access-(sandbox|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    ),
    ("shopify", "shp(at|ca|pa|ss)_[a-f0-9]{32}"),
    ("slack-bot", "xoxb-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{24}"),
    ("slack-app", "xapp-1-A[A-Z0-9]{10}-[0-9]{13}-[a-f0-9]{64}"),
    (
        "slack-hook",
        "https://hooks\\.slack\\.com/services/T[A-Z0-9]{8}/B[A-Z0-9]{8}/[A-Za-z0-9]{24}",
    ),
    (
        "discord-hook",
        "https://discord\\.com/api/webhooks/[0-9]{18}/[A-Za-z0-9_-]{68}",
    ),
    (
        "discord-bot",
        "MT[A-Za-z0-9_-]{24}\\.G[A-Za-z0-9_-]{5}\\.[A-Za-z0-9_-]{37}[A-Za-z0-9]",
    ),
    ("braintree", "access_token\\$production\\$[0-9a-z]{16}\\$[0-9a-f]{32}"),
    ("resend", "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    ("airtable", "pat[A-Za-z0-9]{14}\\.[a-f0-9]{64}"),
    ("azure-client", "[A-Za-z0-9]{3}8Q~[A-Za-z0-9_-]{33}[A-Za-z0-9]"),
    ("telegram", "[0-9]{10}:AA[A-Za-z0-9_-]{33}"),
    ("twilio", "SK[0-9a-f]{32}"),
    ("sendgrid", "SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}"),
    ("mailgun", "key-[a-f0-9]{32}"),
    ("brevo", "xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("mailchimp", "[a-f0-9]{32}-us[0-9]{2}"),
    ("sentry", "sntry[us]_[A-Za-z0-9+/=_]{64}"),
    ("new-relic", "NRAK-[A-Z0-9]{27}"),
    ("grafana", "glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"),
    ("grafana-cloud", "glc_eyJ[A-Za-z0-9+/]{60}"),
    ("dynatrace", "dt0c01\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}"),
    ("posthog", "phx_[A-Za-z0-9]{43}"),
    ("linear", "lin_api_[A-Za-z0-9]{40}"),
    ("notion", "ntn_[A-Za-z0-9]{46}"),
    ("figma", "figd_[A-Za-z0-9_-]{40}"),
    ("postman", "PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    (
        "hubspot",
        "pat-(na|eu)1-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    ),
    ("contentful", "CFPAT-[A-Za-z0-9_-]{43}"),
    ("mapbox", "sk\\.eyJ[A-Za-z0-9_-]{60}\\.[A-Za-z0-9_-]{22}"),
    ("1password", "ops_eyJ[A-Za-z0-9+/]{250}"),
    ("age", "AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("netlify", "nfp_[A-Za-z0-9]{40}"),
    ("sourcegraph", "sgp_[a-f0-9]{16}_[a-f0-9]{40}"),
    (
        "jwt",
        "eyJhbGciOiJIUzI1NiJ9\\.eyJzdWIiOi[A-Za-z0-9_-]{40}\\.[A-Za-z0-9_-]{43}",
    ),
    (
        "pem",
        "-----BEGIN (RSA |EC |OPENSSH |)PRIVATE KEY-----\n([A-Za-z0-9+/]{64}\n){3}-----END (RSA |EC |OPENSSH |)PRIVATE KEY-----",
    ),
];
/// Secrets without a shape of their own: only the name beside them tells.
const NAMED: &[(&str, &str)] = &[
    ("random", "[A-Za-z0-9]{20,40}"),
    ("base64", "[A-Za-z0-9+/]{42}[A-Za-z0-9]="),
    ("hex", "[0-9a-f]{32}"),
    ("hex-64", "[0-9a-f]{64}"),
    ("typed", "[A-Z][a-z]{5,8}[0-9]{2,4}[!$%&*]"),
    ("typed-plain", "[a-z]{5,8}[0-9]{3,5}"),
    ("typed-german", "Gr(ü|ä)[a-z]{4,8}[0-9]{3,5}"),
    ("aws-secret", "[A-Za-z0-9+/]{39}[A-Za-z0-9]"),
];
/// Where a token stands; `{}` is the token.
const CONTEXTS: &[(&str, &str)] = &[
    ("alone", "{}"),
    ("prose", "I put {} there, and it still says 401."),
    ("sentence's end", "The one that works is {}."),
    ("backticks", "use `{}` for staging"),
    ("brackets", "it was leaked ({})"),
    ("log", "2026-03-01T10:00:00Z WARN refused id={} status=403"),
    ("list", "- {}\n- another"),
    ("bold", "it is **{}**, I think"),
    ("table", "| what | which |\n|---|---|\n| it | {} |"),
    ("query", "GET https://api.example.org/v1/orders?after={}&page=2"),
];
/// Where a secret stands beside its name.
const NAMED_CONTEXTS: &[(&str, &str)] = &[
    ("env", "SHOP_API_KEY={}"),
    ("export", "export DB_PASSWORD='{}'"),
    ("json", "{\"client_secret\": \"{}\", \"retries\": 3}"),
    ("yaml", "database:\n  password: \"{}\"\n  port: 5432"),
    ("toml", "access_key = \"{}\""),
    ("code", "const authToken = \"{}\";"),
    ("python", "client = Shop(api_key='{}', timeout=3)"),
    ("diff", "+    \"apiKey\": \"{}\","),
    ("header", "curl -H 'X-Api-Key: {}' https://example.org"),
    ("escaped json", "{\\\"password\\\": \\\"{}\\\"}"),
    ("flag", "shop login --token {} --region eu"),
    ("log", "2026-03-01T10:00:00Z WARN refused credentials={} status=403"),
    ("query", "GET https://api.example.org/v1/orders?token={}&page=2"),
    ("powershell", "$env:SHOP_TOKEN = \"{}\""),
    ("below", "password:\n  \"{}\"\nport: 5432"),
    ("block", "api_key: |\n  {}\nport: 5432"),
    ("csv", "user,password\nada,{}"),
    ("bold name", "- **password:** {}"),
];
/// Passwords as a URL may hold them, and where.
const PASSWORDS: &[(&str, &str)] = &[
    ("random", "[A-Za-z0-9]{12,40}"),
    ("typed", "[a-z]{5,8}[0-9]{3,5}"),
    ("escaped", "[A-Z][a-z]{6}%2[1-9]"),
];
const URLS: &[(&str, &str)] = &[
    ("postgres", "postgres://app:{}@db.example.org:5432/shop"),
    ("redis", "REDIS=redis://:{}@cache:6379"),
    ("mongo", "mongodb+srv://ada:{}@c0.example.net/?w=majority"),
    ("git", "git clone https://ada:{}@git.example.org/shop.git"),
];
/// What is no secret, in the contexts of tokens.
const DECOYS: &[(&str, &str)] = &[
    ("commit", "[0-9a-f]{40}"),
    ("short commit", "[0-9a-f]{7,12}"),
    ("digest", "sha256:[0-9a-f]{64}"),
    ("uuid", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
    ("integrity", "sha512-[A-Za-z0-9+/]{86}=="),
    ("go sum", "h1:[A-Za-z0-9+/]{43}="),
    ("picture", "data:image/png;base64,iVBORw0KGgo[A-Za-z0-9+/]{120}="),
    ("public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}"),
    (
        "certificate",
        "-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/]{64}\n){3}-----END CERTIFICATE-----",
    ),
    ("pod", "checkout-api-[0-9a-f]{9}-[a-z0-9]{5}"),
    ("trace", "00-[0-9a-f]{32}-[0-9a-f]{16}-01"),
    ("etag", "W/[0-9a-f]{16}"),
    ("version", "v[0-9]\\.[0-9]{1,2}\\.[0-9]{1,2}-rc\\.[0-9]"),
    ("time", "2026-0[1-9]-1[0-9]T1[0-9]:[0-5][0-9]:[0-5][0-9]Z"),
    (
        "camel",
        "(get|load|make)(Access|Refresh|User)(Token|Key)(Cache|Store|Factory)",
    ),
    ("snake", "(read|write)_(access|session)_(token|key)_(count|index)"),
    ("kebab", "(task|risk|disk)-(based|driven)-(review|planning)-of-[a-z]{5,9}"),
    ("path", "/home/ada/shop/src/[a-z]{4,8}/[a-z]{4,8}_token\\.rs"),
    ("package", "@shop/[a-z]{4,9}-(key|token)-utils"),
    ("url", "https://example\\.org/docs/[a-z]{5,9}/api-keys#[a-z]{4,8}"),
    ("number", "[0-9]{10,13}"),
    ("ip", "10\\.[0-9]{1,2}\\.[0-9]{1,2}\\.[0-9]{1,2}:[0-9]{4}"),
    ("hash call", "hash_[0-9a-f]{8}\\(key\\)"),
    ("css", "\\.sk-(chase|cube|fold)-[a-z]{4,8} \\{ color: #[0-9a-f]{6} \\}"),
    ("docker tag", "registry\\.example\\.org/shop/api:[0-9a-f]{12}"),
    ("upload", "upload_[a-z]{5}_[0-9]{8}\\.csv"),
    ("cargo lock", "checksum = \"[0-9a-f]{64}\""),
    (
        "yarn lock",
        "  resolved \"https://registry\\.example\\.org/[a-z]{4,9}\\.tgz#[0-9a-f]{40}\"\n  integrity sha512-[A-Za-z0-9+/]{86}==",
    ),
    ("hex dump", "0000[0-9a-f]{4}  ([0-9a-f]{2} ){16} \\|[a-z.]{16}\\|"),
    ("image id", "sha256:[0-9a-f]{12}"),
    (
        "minified",
        "!function\\(e,t\\)\\{var n=\"[a-z]{4}-[a-z]{6}-[0-9]{3}\";return e\\[t\\]\\}",
    ),
    ("css class", "\\.md-[a-z]{4,9}-[a-z]{5,9}-[a-z]{4,9}__[a-z]{4,9}--[a-z]{4,9}"),
    (
        "rsa public key",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ[A-Za-z0-9+/]{200}= ada@box",
    ),
    (
        "pgp public key",
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n([A-Za-z0-9+/]{64}\n){3}-----END PGP PUBLIC KEY BLOCK-----",
    ),
    ("nonce", "nonce-[A-Za-z0-9]{12}"),
    ("getter", "password = get(Pass|Word|Secret)\\(\\)"),
    ("typed field", "(token|password|secret): (String|Option<String>|str|&str)"),
    (
        "wrong password",
        "the password is (wrong|missing|empty|expired|invalid|required)",
    ),
    ("request id", "req_[A-Za-z0-9]{16}"),
    ("ulid", "01[0-9A-HJKMNP-TV-Z]{24}"),
];
/// What stands beside a secret's name, and is none.
const NAMED_DECOYS: &[(&str, &str)] = &[
    ("variable", "\\$\\{?[A-Z]{4,8}_(TOKEN|KEY)\\}?"),
    ("template", "\\{\\{ secrets\\.[A-Z]{4,8} \\}\\}"),
    ("call", "process\\.env\\.[A-Z]{4,8}_KEY"),
    ("placeholder", "your-[a-z]{4,8}-here"),
    ("angle", "<[a-z]{4,8}-key>"),
    ("stars", "\\*{8,12}"),
    ("word", "(required|missing|invalid|expired|optional|rotated)"),
    ("number", "[0-9]{2,4}"),
    ("message", "(需要密码|存储密码到配置|パスワードを入力|Введите пароль)"),
    ("bool", "(true|false|null|None|undefined)"),
    ("file", "(/etc|~|\\.)/(secrets|keys)/[a-z]{4,8}\\.(pem|txt)"),
];

/// Texts of one shape in one context, with what was put in.
fn texts<'a>(
    shapes: &'a [(&'a str, &'a str)],
    contexts: &'a [(&'a str, &'a str)],
) -> impl Iterator<Item = (String, String, String)> + 'a {
    let mut runner = TestRunner::deterministic();
    shapes.iter().flat_map(move |(name, shape)| {
        let strategy = string_regex(shape).expect("a shape is a pattern");
        let mut made = Vec::new();
        for (place, context) in contexts {
            for _ in 0..SAMPLES {
                let value = strategy.new_tree(&mut runner).expect("a value of the shape").current();
                made.push((format!("{name}, {place}"), context.replace("{}", &value), value));
            }
        }
        made
    })
}

/// Whether nothing of the secret is left that would be of use: not eight characters of it in a row, but for an address before it.
fn is_gone(redacted: &str, secret: &str) -> bool {
    let body = match secret.rsplit_once('/') {
        Some((address, token)) if address.starts_with("https://") => token,
        _ => secret,
    };
    let characters: Vec<char> = body.chars().collect();
    let left = |part: &[char]| redacted.contains(&part.iter().collect::<String>());
    !characters.windows(LEFT.min(characters.len())).any(left)
}

fn print(title: &str, all: usize, failed: &[(String, String)]) -> f64 {
    let share = failed.len() as f64 / all as f64;
    println!("{title}: {} of {all} ({:.2} %)", failed.len(), share * 100.0);
    for (name, text) in failed {
        println!("    {name}: {text}");
    }
    share
}

#[test]
fn tc_41_made_up_secrets_are_gone() {
    let shaped = texts(SHAPED, CONTEXTS).chain(texts(SHAPED, NAMED_CONTEXTS));
    let named = texts(NAMED, NAMED_CONTEXTS).chain(texts(PASSWORDS, URLS));
    let all: Vec<_> = shaped.chain(named).collect();
    let missed: Vec<_> = all
        .iter()
        .filter(|(_, text, secret)| !is_gone(&redact(text), secret))
        .map(|(name, text, _)| (name.clone(), text.clone()))
        .collect();
    let share = print("secrets left", all.len(), &missed);
    assert!(1.0 - share >= LEAST_RECALL, "{share}");
}

#[test]
fn tc_41_decoys_are_left_alone() {
    let all: Vec<_> = texts(DECOYS, CONTEXTS).chain(texts(NAMED_DECOYS, NAMED_CONTEXTS)).collect();
    let touched: Vec<_> = all
        .iter()
        .filter_map(|(name, text, _)| {
            let redacted = redact(text);
            (redacted != text.as_str()).then(|| (name.clone(), redacted.into_owned()))
        })
        .collect();
    let share = print("decoys touched", all.len(), &touched);
    assert!(share <= MOST_FALSE, "{share}");
}
