use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// `text` with every placeholder replaced by a made-up secret of that shape, so that no secret stands in this file.
fn fill(text: &str) -> String {
    text.replace("{up16}", "IOSFODNN7EXAMPL3")
        .replace("{b64_40}", "wJalrXUtnFEMI7K7MDENGbPxRfiCYzz9a8b7c6d5")
        .replace("{alnum36}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
        .replace("{alnum24}", "a1B2c3D4e5F6g7H8i9J0k1L2")
        .replace("{hex32}", "0123456789abcdef0123456789abcdef")
        .replace("{hex40}", "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        .replace("{digits}", "123456789")
}

#[rstest]
#[case::aws("AKIA{up16}", "aws-key")]
#[case::gcp("AIza{alnum36}", "gcp-key")]
#[case::gcp_oauth("ya29.{alnum36}", "gcp-token")]
#[case::azure("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={b64_40}{b64_40}==;", "azure-key")]
#[case::github("ghp_{alnum36}", "github-token")]
#[case::github_fine("github_pat_{alnum24}_{alnum36}", "github-token")]
#[case::gitlab("glpat-{alnum24}", "gitlab-token")]
#[case::anthropic("sk-ant-api03-{alnum36}", "anthropic-key")]
#[case::openai("sk-{alnum36}", "openai-key")]
#[case::openai_project("sk-proj-{alnum36}", "openai-key")]
#[case::huggingface("hf_{alnum36}", "huggingface-token")]
#[case::groq("gsk_{alnum36}{alnum24}", "ai-key")]
#[case::slack("xoxb-{digits}-{alnum24}", "slack-token")]
#[case::slack_hook("https://hooks.slack.com/services/T00000000/B00000000/{alnum24}", "slack-webhook")]
#[case::discord_hook("https://discord.com/api/webhooks/{digits}/{alnum36}", "discord-webhook")]
#[case::stripe("sk_live_{alnum24}", "stripe-key")]
#[case::npm("npm_{alnum36}", "npm-token")]
#[case::npmrc("//registry.npmjs.org/:_authToken={alnum24}", "npm-token")]
#[case::pypi("pypi-AgEIcHlwaS5vcmc{alnum36}{alnum24}", "pypi-token")]
#[case::telegram("{digits}:AA{alnum24}abcdefghi", "telegram-token")]
#[case::sendgrid("SG.{alnum24}.{alnum36}", "sendgrid-key")]
#[case::twilio("SK{hex32}", "twilio-key")]
#[case::mysql("mysql -uroot -phunter2x shop", "password")]
#[case::sshpass("sshpass -p hunter2x ssh box", "password")]
#[case::netrc("machine example.org login me password hunter2x", "password")]
#[case::registry(r#"{"auths": {"r": {"auth": "{alnum36}"}}}"#, "registry-auth")]
#[case::tailscale("tskey-auth-{alnum24}", "cloud-token")]
#[case::bitbucket("ATBB{alnum36}", "forge-token")]
#[case::linear("lin_api_{alnum36}", "service-token")]
#[case::json_in_json(r#"{"body": "{\\"password\\": \\"{alnum24}\\"}"}"#, "assignment")]
#[case::vault("hvs.{alnum24}", "service-token")]
#[case::jwt("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{alnum36}", "jwt")]
#[case::pem(
    "-----BEGIN RSA PRIVATE KEY-----\n{b64_40}\n{b64_40}\n-----END RSA PRIVATE KEY-----",
    "private-key"
)]
#[case::pem_cut("-----BEGIN OPENSSH PRIVATE KEY-----\n{b64_40}\n", "private-key")]
#[case::header("curl -H 'Authorization: token {alnum24}'", "authorization")]
#[case::header_json(r#"{"Authorization": "Basic {b64_40}"}"#, "authorization")]
#[case::api_key_header("x-api-key: {alnum24}", "authorization")]
#[case::basic("a header of Basic {b64_40}==", "basic-auth")]
#[case::bearer("send it as Bearer {alnum36}", "bearer")]
#[case::url("postgres://app:{alnum24}@db.example.org:5432/app", "url-password")]
#[case::redis("redis://:{alnum24}@cache:6379", "url-password")]
#[case::curl_user("curl -u admin:s3cr3tpw https://example.org", "basic-auth")]
#[case::cookie("Cookie: session={alnum24}; theme=dark", "cookie")]
#[case::cookie_second("Cookie: theme=dark; session={alnum24}", "cookie")]
#[case::cookies("Cookie: a={alnum36}; refresh={alnum24}; theme=dark", "cookie")]
#[case::cookie_json(r#"{"cookie": "sid={alnum24}; theme=dark"}"#, "cookie")]
#[case::private_with_a_placeholder("<private>it logs [redacted:jwt] and hunter2</private>", "private")]
#[case::pem_before_a_placeholder("-----BEGIN RSA PRIVATE KEY-----\n{b64_40}\nand [redacted:jwt]", "private-key")]
#[case::cookie_beside_a_placeholder("Cookie: a=[redacted:jwt]; session={alnum24}", "cookie")]
#[case::env_pass("SMTP_PASS=s3cr3tpw", "assignment")]
#[case::env("STRIPE_SECRET={alnum24}", "assignment")]
#[case::env_password("export DB_PASSWORD='tr0ub4dor&3'", "assignment")]
#[case::yaml("  api_key: \"{alnum24}\"", "assignment")]
#[case::json(r#""client_secret": "{alnum24}","#, "assignment")]
#[case::code("const accessToken = '{alnum24}';", "assignment")]
#[case::hex_secret("SESSION_SECRET={hex40}", "assignment")]
#[case::flag("mysql --password=hunter2-x9 app", "assignment")]
#[case::spoken("the password is hunter2!", "password")]
#[case::spoken_for("The password for the staging server is Tr0ub4dor", "password")]
#[case::spoken_german("Das Passwort lautet geheim123", "password")]
#[case::spoken_chinese("密码是 hunter2x", "password")]
#[case::powershell("$env:SHOP_TOKEN = \"{alnum24}\"", "assignment")]
#[case::sudo("echo 'hunter2Zq' | sudo -S apt-get update", "password")]
#[case::short_name("pw=hunter2Zq", "assignment")]
#[case::another_short_name("pwd=hunter2Zq9X", "assignment")]
#[case::beside_the_user("user bob and pass hunter2", "password")]
#[case::hexadecimal("my api key {hex32} is refused", "assignment")]
#[case::raw_url("postgres://u:hunter2@s/x@h/app", "url-password")]
#[case::two_signs("https://ada:hunter2@s3cr3tpw@git.example.org/x", "url-password")]
#[case::pem_without_a_head("{b64_40}\n{b64_40}\n-----END RSA PRIVATE KEY-----", "private-key")]
#[case::beside("here is the token you asked for: {alnum36}", "high-entropy")]
#[case::private("before <private>my street is Elm 3</private> after", "private")]
#[case::private_unclosed("before <private>my street", "private")]
fn tc_41_secrets_are_replaced(#[case] text: &str, #[case] kind: &str) {
    let text = fill(text);
    let redacted = redact(&text);
    assert!(redacted.contains(&format!("[redacted:{kind}]")), "{redacted}");
    for secret in [
        "a1B2c3D4e5F6",
        "IOSFODNN7",
        "wJalrXUtnFEMI",
        "0123456789abcdef0123",
        "hunter2",
        "tr0ub4dor",
        "Tr0ub4dor",
        "geheim123",
        "s3cr3tpw",
        "Elm 3",
        "my street",
        "da39a3ee5e6b",
    ] {
        assert!(!redacted.contains(secret), "{redacted}");
    }
    assert_eq!(redact(&redacted), redacted, "redacting twice changes nothing");
}

#[rstest]
#[case::sha("commit {hex40}")]
#[case::uuid("session 123e4567-e89b-12d3-a456-426614174000")]
#[case::risk("a risk-based approach to authentication and risk-assessment-of-the-whole-system")]
#[case::sk_learn("pip install sk-learn and sk-image")]
#[case::task("task-management-of-large-projects-2024")]
#[case::css(".sk-cube-grid-with-a-long-name-for-loading { }")]
#[case::path("/Users/ada/Projects/secrets/token-store/src/access_token_cache.rs")]
#[case::type_name("let token: String = next_token();")]
#[case::call("const token = await getToken(userId);")]
#[case::variable("password = os.environ['DB_PASSWORD']")]
#[case::shell_variable("curl -H \"Authorization: Bearer $TOKEN\"")]
#[case::actions("token: ${{ secrets.GITHUB_TOKEN }}")]
#[case::placeholder("API_KEY=your-api-key-here")]
#[case::angle("password: <your password>")]
#[case::no_value("The password is required and must not be empty.")]
#[case::invalid("the token is invalid, so the request is refused")]
#[case::tokens("max_tokens: 4096, total_tokens = 128000")]
#[case::tokenizer("tokenizer: sentencepiece")]
#[case::base64_id("id: \"Y3Vyc29yOjEw\"")]
#[case::url("https://example.org:8080/a@b")]
#[case::ssh("git@github.com:example/repo.git")]
#[case::mail("mailto:ada@example.org")]
#[case::hash_in_lock("checksum = \"{hex40}{hex32}\"")]
#[case::key_value("key: value, primary_key: user_id, foreign key (author_id)")]
#[case::basic("a basic understanding of Basic Authentication")]
#[case::bearer_word("the bearer of this message")]
#[case::jsonpath("error: token.value.secret.name")]
#[case::rust_path("use auth::token::AccessToken;")]
#[case::todo("TODO: rotate the secret")]
#[case::question("what does `secret_key` mean in settings.py?")]
#[case::bool("show_password: false, hidePassword = true")]
#[case::annotation("def login(user: str, password: Optional[str] = None) -> None:")]
#[case::code_after_a_comment("// 密码：离线展示\\n+    show()")]
#[case::condition("密码：尝试在线获取\\n+")]
#[case::next_line("密码：\n_render2(config)")]
#[case::tokenizer_name("tokenizer: cl100k_base, token_type = urn_ietf_1")]
#[case::kubernetes("secretName: shop-tls-2, secretKeyRef: app-config-1")]
#[case::hashing("the password is base64-encoded, then hashed: password: argon2id-v19")]
#[case::limits("max_tokens=128k-ish tokens: 12,345")]
#[case::user_flag("docker run -u 1000:1000 image")]
#[case::version("token_version = 2.1.0")]
fn tc_41_decoys_stay(#[case] text: &str) {
    let text = fill(text);
    assert_eq!(redact(&text), text);
}

#[test]
fn tc_41_what_closes_one_secret_opens_the_next() {
    let text = fill(r#"{"auth": "{alnum36}"auth": "{alnum24}"}"#);
    let redacted = redact(&text);
    assert!(!redacted.contains("a1B2c3"), "{redacted}");
}

#[rstest]
#[case::a_login("mysql -u abtoken=x9y8z7w6v5\"there")]
#[case::a_telling_word("密码是 hunter2x {alnum24}Q?")]
fn a_placeholder_is_taken_for_no_part_of_a_secret(#[case] text: &str) {
    let once = redact(&fill(text)).into_owned();
    assert_eq!(redact(&once), once);
}

#[test]
fn tc_41_what_only_looks_like_a_placeholder_hides_nothing() {
    assert!(!redact("[redacted:password=hunter2x and more]").contains("hunter2x"));
}

proptest! {
    #[test]
    fn any_text_is_redacted_once(text in "(?s).{0,200}") {
        let once = redact(&text).into_owned();
        let twice = redact(&once).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn assignments_are_redacted_once(
        name in "(db_)?(password|SECRET|token|api_key)",
        between in "(=|: |\": \"| = )",
        value in "[!-~]{0,40}",
        after in "[ -~]{0,20}",
    ) {
        let text = format!("{name}{between}{value} {after}");
        let once = redact(&text).into_owned();
        let twice = redact(&once).into_owned();
        prop_assert_eq!(twice, once);
    }
}
