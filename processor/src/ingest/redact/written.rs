//! What is told by what is written around it: a header, a URL, an option, a sentence, a name with a value.

use super::judge::{
    always, is_assigned, is_basic, is_given, is_header_token, is_login, is_random, is_spoken, is_told_in_a_header,
    looks_like_a_secret,
};
use super::rules::{Rule, exact, judged};
use super::typed::{is_pass, is_phrase, is_raw_in_a_url};

/// A pattern of [`NAMES`].
macro_rules! names {
    () => {
        r"(?:secret|token|passw(?:or)?d?|pwd|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|encryption_key|signing_key|credentials?|account_?key|client_key|master_key|service_key|connection_string|session_key|app(?:lication)?[_-]key|subscription[_-]key|license_key|pre_?shared_?key|_psk|[_-]pass)"
    };
}

pub(super) use names;

/// Words in the name of a variable, field or header that hold a secret.
pub(super) const NAMES: &[&str] = &[
    "secret",
    "token",
    "passw",
    "pwd",
    "passphrase",
    "api_key",
    "apikey",
    "api-key",
    "api key",
    "access_key",
    "accesskey",
    "access-key",
    "access key",
    "private_key",
    "privatekey",
    "private-key",
    "private key",
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
    "app_key",
    "app-key",
    "application_key",
    "application-key",
    "subscription_key",
    "subscription-key",
    "license_key",
    "preshared",
    "pre_shared",
    "_psk",
    "_pass",
    "-pass",
];

/// Words by which a sentence gives a password; those with other letters than ASCII's in each case in which they are written.
const SPOKEN: &[&str] = &[
    "password",
    "passwort",
    "passphrase",
    "kennwort",
    "mot de passe",
    "contraseña",
    "CONTRASEÑA",
    "senha",
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
];

/// Every one of them.
pub(super) const WRITTEN: &[Rule] = &[
    judged(
        "sshpass",
        "password",
        &["sshpass"],
        r#"\bsshpass\s+-p\s*["']?(?P<secret>[^\s"']+)"#,
        is_given,
    ),
    judged(
        "mysql-password",
        "password",
        &["mysql", "mariadb"],
        r#"\b(?:mysql|mariadb)\w*[^\n|;&]*?\s-p["']?(?P<secret>[^\s"'-][^\s"']*)"#,
        is_given,
    ),
    judged(
        "login-password",
        "password",
        &["login", "mongo"],
        r#"\b(?:(?:docker|podman|helm registry|oras|skopeo|buildah|crane|nerdctl|az|oc)\s+login|mongo(?:sh|dump|restore|export|import)?)\b[^\n|;&]*?\s-p[ =]["']?(?P<secret>[^\s"'$<-][^\s"']{3,})"#,
        is_login,
    ),
    judged(
        "redis-password",
        "password",
        &["redis-cli"],
        r#"\bredis-cli\b[^\n|;&]*?\s-a\s+["']?(?P<secret>[^\s"'$<-][^\s"']{3,})"#,
        is_given,
    ),
    judged(
        "ldap-password",
        "password",
        &["ldap"],
        r#"\bldap(?:search|modify|add|delete|whoami|passwd)\b[^\n|;&]*?\s-w\s+["']?(?P<secret>[^\s"'$<-][^\s"']{3,})"#,
        is_given,
    ),
    judged(
        "openssl-password",
        "password",
        &["pass:"],
        r#"\bopenssl\b[^\n|;&]*?\spass:(?P<secret>[^\s"'$<][^\s"']{2,})"#,
        is_given,
    ),
    judged(
        "netrc",
        "password",
        &["login"],
        r"\b(?:machine\s+\S+|default)\s+login\s+\S+\s+password\s+(?P<secret>\S+)",
        always,
    ),
    judged(
        "pgpass",
        "password",
        &[":5432:", ":5433:", ":6432:", ":*:"],
        r"(?m)(?:^|[\s\x22\x27])[A-Za-z0-9.*-]+:(?:5432|5433|6432|\*):[A-Za-z0-9_.*-]+:[A-Za-z0-9_.*@-]+:(?P<secret>[^\s\x22\x27:]{3,})",
        is_login,
    ),
    judged(
        "registry-auth",
        "registry-auth",
        &["\"auth"],
        r#"\\{0,3}"auth\\{0,3}"\s*:\s*\\{0,3}"(?P<secret>[A-Za-z0-9+/]{16,}={0,2})"#,
        always,
    ),
    exact(
        "recovery-phrase",
        "recovery-phrase",
        &["phrase", "mnemonic"],
        r#"(?i)\b(?:seed phrase|recovery phrase|mnemonic)[^\n:=]{0,20}[:=]\s*["'`]?(?P<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b"#,
    ),
    judged(
        "authorization",
        "authorization",
        &[
            "authorization",
            "x-api-key",
            "x-auth-token",
            "x-access-token",
            "private-token",
        ],
        r#"(?i)\b(?:proxy-)?(?:authorization|x-api-key|x-auth-token|x-access-token|private-token)\\{0,3}["']?\s*[:=,]\s*\\{0,3}["'`]?(?:(?:bearer|basic|token|digest|api-?key|bot|key|ssws|geniekey|splunk|negotiate|hmac)\s+)?(?P<secret>[A-Za-z0-9+/._~=:-]{8,})"#,
        is_told_in_a_header,
    ),
    judged(
        "bearer",
        "bearer",
        &["bearer"],
        r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9+/._~=-]{12,})",
        is_header_token,
    ),
    judged(
        "basic-auth",
        "basic-auth",
        &["basic "],
        r"\b[Bb]asic (?P<secret>[A-Za-z0-9+/]{12,}={0,2})",
        is_basic,
    ),
    exact(
        "cookie",
        "cookie",
        &["cookie:", "cookie\"", "cookie'", "cookie\\"],
        // The whole of the header: any of them may be the secret one.
        r#"(?i)\b(?:set-)?cookie\\{0,3}["']?:\s*\\{0,3}["']?(?P<secret>[^\s=;"'\\]{1,60}=[^\r\n"'\\]{8,})"#,
    ),
    exact(
        "curl-cookie",
        "cookie",
        &["curl"],
        r#"\bcurl\b[^\n|]*?\s(?:-b|--cookie)[ =]["']?(?P<secret>[^\s=;"'$<]{1,60}=[^\r\n"'\s]{8,})"#,
    ),
    judged(
        "curl-user",
        "basic-auth",
        &["-u ", "-u=", "--user ", "--user=", "--proxy-user ", "--proxy-user="],
        r#"\s(?:-u|--user|--proxy-user)[ =]+["']?[^\s:"'$]{1,60}:(?P<secret>[^\s"'$]{4,80})"#,
        is_login,
    ),
    // Before the rule of well-formed ones, which ends at the first sign that a URL would have escaped.
    judged(
        "url-password-unescaped",
        "url-password",
        &["://"],
        r"(?i)\b(?:postgres(?:ql)?|mysql2?|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse|cockroachdb|oracle|ldaps?|smtps?|imaps?|ftps?|sftp)(?:\+[a-z0-9]+)?://[^\s/:@\x22\x27<>\[\]]{0,80}:(?P<secret>[^\s\x22\x27<>,]{0,120}[/@?#][^\s\x22\x27<>,]{0,120})@[A-Za-z0-9\[]",
        is_raw_in_a_url,
    ),
    judged(
        "url-password",
        "url-password",
        &["://"],
        r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\x22\x27<>\[\]]{0,80}:(?P<secret>[^\s/\x22\x27<>]{3,120})@",
        is_given,
    ),
    judged(
        "url-token",
        "url-password",
        &["://"],
        r"(?i)\b[a-z][a-z0-9+.-]{1,20}://(?P<secret>[A-Za-z0-9_-]{20,120})@",
        looks_like_a_secret,
    ),
    exact(
        "laravel-key",
        "assignment",
        &["APP_KEY=base64:"],
        r"\bAPP_KEY=(?P<secret>base64:[A-Za-z0-9+/]{40,}={0,2})",
    ),
    // Before those that take the first of its words.
    judged(
        "passphrase",
        "assignment",
        &["passphrase", "pass phrase", "pass_phrase", "pass-phrase"],
        r#"(?i)\bpass[ _-]?phrase\\{0,3}["'`]?[ \t]*(?:is\b|=|:)[ \t]*(?:[|>][+-]?[ \t]*\r?\n[ \t]+)?\\{0,3}["'`]?(?P<secret>[a-z0-9]{1,14}(?:[ -][a-z0-9]{1,14}){2,23})\b"#,
        is_phrase,
    ),
    judged(
        "assignment",
        "assignment",
        NAMES,
        // name = value, name: value, "name": "value", \"name\": \"value\", NAME=value, --name value, name => value
        concat!(
            "(?i)",
            names!(),
            r#"(?P<suffix>[a-z0-9_-]{0,40})\\{0,3}["'`*]{0,2}[ \t]{0,4}(?::=|=>|=|:|%3D)(?:\*\*)?[ \t]{0,4}\\{0,3}["'`]?(?P<secret>[^\s"'`,;:)\]}\\][^\s"'`,;)\]}]{5,})"#
        ),
        is_assigned,
    ),
    judged(
        "option",
        "assignment",
        &[
            "--password",
            "--token",
            "--secret",
            "--api-key",
            "--apikey",
            "--pass",
            "--auth-token",
            "--access-token",
            "--http-password",
            "--ftp-password",
            "--client-secret",
        ],
        r#"(?i)--(?:(?:http-|ftp-)?password|(?:auth-|access-)?token|(?:client-)?secret|api-?key|pass|passphrase)[ =]["']?(?P<secret>[^\s"'$<-][^\s"']{4,})"#,
        is_given,
    ),
    judged(
        "xml-element",
        "assignment",
        &["<pass", "<pwd", "<secret", "<token", "<apikey", "<api-key", "<privatekey"],
        r"(?i)<(?:password|passwd|passphrase|pwd|secret(?:key)?|token|api-?key|privatekey)\b[^<>]{0,60}>\s*(?P<secret>[^<>\s]{6,200})\s*</",
        is_assigned,
    ),
    judged(
        "pass",
        "assignment",
        &["pass=", "pass:", "pass\"", "pass'", "pass\\", "pass ", "pass\t"],
        r#"(?i)\bpass\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["'`]?(?P<secret>[^\s"'`,;)\]}\\]{8,})"#,
        is_pass,
    ),
    judged(
        "login-call",
        "password",
        &["login(", "log_in(", "signin(", "sign_in(", "authenticate("],
        r#"(?i)\b(?:log_?in|sign_?in|authenticate)\(\s*\\{0,3}["'][^"'\n\\]{1,80}\\{0,3}["']\s*,\s*\\{0,3}["'](?P<secret>[^"'\s\\]{6,})\\{0,3}["']"#,
        looks_like_a_secret,
    ),
    judged(
        "spoken-password",
        "password",
        SPOKEN,
        r#"(?i)(?:password|passwort|passphrase|kennwort|mot de passe|contraseña|senha|пароль|密码|密碼|パスワード|비밀번호)(?:[ \t]+(?:for|für|to|of|on|zu|de|du)[ \t]+(?:\S+[ \t]+){1,3}?)?[ \t]*(?:is|ist|lautet|est|es|é|now|=|:|是|为|為|は|:|：)[ \t]*["'`]?(?P<secret>[^\s"'`,;]{5,})"#,
        is_spoken,
    ),
    judged(
        "high-entropy",
        "high-entropy",
        NAMES,
        r#"(?i)(?:secret|token|passw(?:or)?d|passphrase|api[ _-]?key|access[ _-]?key|private[ _-]?key|credentials?)\b[^\n]{0,24}?(?:^|[\s"'`(=:])(?P<secret>[A-Za-z0-9+/_=.~-]{20,})"#,
        is_random,
    ),
];
