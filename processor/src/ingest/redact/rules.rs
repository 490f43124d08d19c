//! The table of what is a secret. Order matters where two rules could take the same text: the exact ones stand first.
//! A find is judged by [`super::judge`].

use super::judge::{
    Found, always, is_assigned, is_basic, is_given, is_header_token, is_login, is_random, is_spoken, mixes_letters_and_digits,
};
use super::tokens;

/// One kind of secret.
pub(super) struct Rule {
    /// What the placeholder calls it.
    pub(super) kind: &'static str,
    /// At least one of these occurs in every match, in any case.
    pub(super) anchors: &'static [&'static str],
    /// Finds it; a group named `secret` narrows what is replaced.
    pub(super) pattern: &'static str,
    /// Judges what was found.
    pub(super) is_secret: fn(&Found<'_>) -> bool,
}

/// A rule whose pattern alone decides.
const fn exact(kind: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule {
        kind,
        anchors,
        pattern,
        is_secret: always,
    }
}

/// A rule whose find is judged.
const fn judged(
    kind: &'static str,
    anchors: &'static [&'static str],
    pattern: &'static str,
    is_secret: fn(&Found<'_>) -> bool,
) -> Rule {
    Rule {
        kind,
        anchors,
        pattern,
        is_secret,
    }
}

/// Words in the name of a variable, field or header that hold a secret.
const NAMES: &[&str] = &[
    "secret",
    "token",
    "passw",
    "pwd",
    "passphrase",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "accesskey",
    "access-key",
    "private_key",
    "privatekey",
    "private-key",
    "auth_key",
    "authkey",
    "encryption_key",
    "signing_key",
    "credential",
    "account_key",
    "accountkey",
    "client_key",
    "master_key",
    "service_key",
    "connection_string",
    "session_key",
    "_pass",
    "-pass",
];

/// Every rule.
pub(super) const RULES: &[Rule] = &[
    exact(
        "private-key",
        &["-----BEGIN"],
        r"(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    exact(
        "aws-key",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    ),
    exact("gcp-key", &["AIza"], r"\bAIza[0-9A-Za-z_-]{35}"),
    exact(
        "gcp-token",
        &["ya29.", "GOCSPX-"],
        r"\b(?:ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{20,})",
    ),
    judged(
        "azure-key",
        &["AccountKey=", "SharedAccessKey=", "sig="],
        r"(?i)(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})|[?&]sig=(?P<sig>[A-Za-z0-9%+/]{30,}={0,2})",
        always,
    ),
    exact(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    exact(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "gloas-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-",
        ],
        r"\bgl(?:pat|dt|rt|cbt|ptt|oas|ft|imt|agent|soat|ffct)-[A-Za-z0-9_-]{20,}",
    ),
    exact("anthropic-key", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    exact(
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-"],
        r"\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|or-v1-[a-f0-9]{60,})",
    ),
    judged(
        "openai-key",
        &["sk-"],
        r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
        mixes_letters_and_digits,
    ),
    exact("huggingface-token", &["hf_"], r"\bhf_[A-Za-z0-9]{30,}\b"),
    exact(
        "ai-key",
        &["gsk_", "xai-", "pplx-", "r8_", "tgp_v1_"],
        r"\b(?:gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|tgp_v1_[A-Za-z0-9_-]{30,})",
    ),
    exact(
        "slack-token",
        &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxe", "xapp-"],
        r"\b(?:xox[abprs]|xoxe(?:\.xox[bp])?|xapp)-[A-Za-z0-9-]{10,}",
    ),
    exact(
        "slack-webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_-]{20,})",
    ),
    exact(
        "discord-webhook",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d+/[A-Za-z0-9_-]{30,})",
    ),
    exact(
        "stripe-key",
        &[
            "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_", "whsec_",
        ],
        r"\b(?:[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})",
    ),
    exact(
        "npm-token",
        &["npm_", "_authToken"],
        r"\bnpm_[A-Za-z0-9]{30,}\b|_authToken=(?P<secret>[^\s$\x22\x27]{8,})",
    ),
    exact("pypi-token", &["pypi-AgE"], r"\bpypi-AgE[A-Za-z0-9_-]{40,}"),
    exact("twilio-key", &["SK"], r"\bSK[0-9a-f]{32}\b"),
    judged(
        "password",
        &["sshpass"],
        r#"\bsshpass\s+-p\s*["']?(?P<secret>[^\s"']+)"#,
        always,
    ),
    judged(
        "password",
        &["mysql", "mariadb"],
        r#"\b(?:mysql|mariadb)\w*[^\n|;&]*?\s-p(?P<secret>[^\s"'-][^\s"']*)"#,
        always,
    ),
    judged(
        "password",
        &["machine "],
        r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<secret>\S+)",
        always,
    ),
    judged(
        "registry-auth",
        &["\"auth\""],
        r#""auth"\s*:\s*"(?P<secret>[A-Za-z0-9+/]{16,}={0,2})""#,
        always,
    ),
    exact("telegram-token", &[":AA"], r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,35}"),
    exact("sendgrid-key", &["SG."], r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    tokens::CLOUDS,
    tokens::FORGES,
    tokens::SERVICES,
    tokens::DOTTED,
    exact(
        "jwt",
        &["eyJ"],
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    ),
    judged(
        "authorization",
        &[
            "authorization",
            "x-api-key",
            "x-auth-token",
            "x-access-token",
            "private-token",
        ],
        r#"(?i)\b(?:proxy-)?(?:authorization|x-api-key|x-auth-token|x-access-token|private-token)["']?\s*[:=,]\s*["'`]?(?:(?:bearer|basic|token|digest|apikey)\s+)?(?P<secret>[A-Za-z0-9+/._~=:-]{8,})"#,
        is_given,
    ),
    judged(
        "bearer",
        &["bearer "],
        r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9+/._~=-]{12,})",
        is_header_token,
    ),
    judged(
        "basic-auth",
        &["basic "],
        r"\b[Bb]asic (?P<secret>[A-Za-z0-9+/]{12,}={0,2})",
        is_basic,
    ),
    exact(
        "cookie",
        &["cookie:", "cookie\":", "cookie':"],
        // The whole of the header: any of them may be the secret one.
        r#"(?i)\b(?:set-)?cookie\\{0,3}["']?:\s*\\{0,3}["']?(?P<secret>[^\s=;"'\\]{1,60}=[^\r\n"'\\]{8,})"#,
    ),
    judged(
        "basic-auth",
        &["-u ", "--user "],
        r#"\s(?:-u|--user)\s+["']?[^\s:"'$]{1,60}:(?P<secret>[^\s"'$]{4,80})"#,
        is_login,
    ),
    judged(
        "url-password",
        &["://"],
        r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\x22\x27<>]{0,80}:(?P<secret>[^\s/@\x22\x27<>]{3,120})@",
        is_given,
    ),
    judged(
        "assignment",
        NAMES,
        // name = value, name: value, "name": "value", \"name\": \"value\", NAME=value, --name value, name => value
        r#"(?i)(?:secret|token|passw(?:or)?d?|pwd|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|encryption_key|signing_key|credentials?|account_?key|client_key|master_key|service_key|connection_string|session_key|[_-]pass)(?P<suffix>[a-z0-9_-]{0,40})\\{0,3}["'`]?[ \t]{0,4}(?::=|=>|=|:)[ \t]{0,4}\\{0,3}["'`]?(?P<secret>[^\s"'`,;:)\]}\\][^\s"'`,;)\]}]{5,})"#,
        is_assigned,
    ),
    judged(
        "assignment",
        &["--password", "--token", "--secret", "--api-key", "--pass"],
        r#"(?i)--(?:password|token|secret|api-key|pass|passphrase)[ =]["']?(?P<secret>[^\s"'$<-][^\s"']{4,})"#,
        is_given,
    ),
    judged(
        "password",
        &[
            "password",
            "passwort",
            "passphrase",
            "kennwort",
            "mot de passe",
            "contraseña",
            "senha",
            "пароль",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
        ],
        r#"(?i)(?:password|passwort|passphrase|kennwort|mot de passe|contraseña|senha|пароль|密码|密碼|パスワード|비밀번호)(?:[ \t]+(?:for|für|to|of|on|zu|de|du)[ \t]+(?:\S+[ \t]+){1,3}?)?[ \t]*(?:is|ist|lautet|est|es|é|now|=|:|是|为|為|は|:|：)[ \t]*["'`]?(?P<secret>[^\s"'`,;]{5,})"#,
        is_spoken,
    ),
    judged(
        "high-entropy",
        NAMES,
        r#"(?i)(?:secret|token|passw(?:or)?d|passphrase|api[ _-]?key|access[ _-]?key|private[ _-]?key|credentials?)\b[^\n]{0,24}?(?:^|[\s"'`(=:])(?P<secret>[A-Za-z0-9+/_=.~-]{20,})"#,
        is_random,
    ),
];
