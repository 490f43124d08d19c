//! The table of what is a secret: here what a shape tells, wherever it stands; in [`super::tokens`] what its beginning tells; in
//! [`super::written`] what is told by what is written around it. Order matters where two rules could take the same text: the
//! exact ones stand first. A find is judged by [`super::judge`].

use super::judge::{Found, always, is_azure_secret, looks_like_a_secret, mixes_letters_and_digits};
use super::typed::is_manifest;

/// One kind of secret.
pub(super) struct Rule {
    /// What the documentation calls it.
    #[cfg_attr(not(test), expect(dead_code, reason = "the documentation is checked by the tests"))]
    pub(super) name: &'static str,
    /// What the placeholder calls it.
    pub(super) kind: &'static str,
    /// At least one of these stands in every text that holds a match, in any case.
    pub(super) anchors: &'static [&'static str],
    /// Finds it; a group named `secret` narrows what is replaced.
    pub(super) pattern: &'static str,
    /// Judges what was found.
    pub(super) is_secret: fn(&Found<'_>) -> bool,
}

/// A rule whose pattern alone decides.
pub(super) const fn exact(
    name: &'static str,
    kind: &'static str,
    anchors: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    let is_secret = always;
    Rule {
        name,
        kind,
        anchors,
        pattern,
        is_secret,
    }
}

/// A rule whose find is judged.
pub(super) const fn judged(
    name: &'static str,
    kind: &'static str,
    anchors: &'static [&'static str],
    pattern: &'static str,
    is_secret: fn(&Found<'_>) -> bool,
) -> Rule {
    Rule {
        name,
        kind,
        anchors,
        pattern,
        is_secret,
    }
}

/// What a shape tells.
pub(super) const SHAPED: &[Rule] = &[
    exact(
        "pem-key",
        "private-key",
        &["-----BEGIN"],
        r"(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    exact(
        "ssh2-key",
        "private-key",
        &["---- BEGIN SSH2"],
        r"(?s)---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----.*?(?:---- END SSH2 (?:ENCRYPTED )?PRIVATE KEY ----|\z)",
    ),
    exact(
        "putty-key",
        "private-key",
        &["Private-Lines:"],
        r"(?s)Private-Lines: \d+(?:\s|\\r|\\n).*?(?:Private-(?:MAC|Hash): ?[0-9a-f]{40,64}|\z)",
    ),
    // A key whose head was cut away.
    exact(
        "pem-key-end",
        "private-key",
        &["-----END"],
        r"(?P<secret>(?:[A-Za-z0-9+/=]{24,}(?:\s|\\r|\\n){1,8})+(?:[A-Za-z0-9+/=]{1,76}(?:\s|\\r|\\n){1,8})?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----)",
    ),
    // "-----BEGIN " of each kind of private key in base64, as kubeconfigs hold it; a certificate begins otherwise.
    exact(
        "pem-key-in-base64",
        "private-key",
        &["LS0tLS1CRUdJTi"],
        r"LS0tLS1CRUdJTi(?:BSU0EgUFJJ|BQUklWQVRF|BFQyBQUklW|BPUEVOU1NI|BFTkNSWVBURUQg|BEU0EgUFJJ)[A-Za-z0-9+/=]{20,}",
    ),
    judged(
        "jwk-key",
        "private-key",
        &["\"kty"],
        r#"\\{0,3}"(?:d|k|p|q|dp|dq|qi)\\{0,3}"\s*:\s*\\{0,3}"(?P<secret>[A-Za-z0-9_-]{20,})\\{0,3}""#,
        looks_like_a_secret,
    ),
    // Before the key's own rule, which takes away what this one is told by.
    judged(
        "aws-secret-beside-its-key",
        "aws-key",
        &["AKIA", "ASIA"],
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9+/\n]{1,12}(?P<secret>[A-Za-z0-9+/]{40})\b",
        looks_like_a_secret,
    ),
    exact(
        "aws-key",
        "aws-key",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    ),
    exact(
        "aws-session-token",
        "aws-key",
        &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"],
        r"\b(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/=%]{60,}",
    ),
    exact("gcp-key", "gcp-key", &["AIza"], r"AIza[0-9A-Za-z_-]{35}"),
    exact(
        "gcp-token",
        "gcp-token",
        &["ya29.", "GOCSPX-", "1//0", "4/0A"],
        r"(?:ya29\.|GOCSPX-)[0-9A-Za-z_-]{20,}|\b(?:1//0[0-9A-Za-z_-]{30,}|4/0A[0-9A-Za-z_-]{40,})",
    ),
    exact(
        "firebase-server-key",
        "gcp-key",
        &[":APA91b"],
        r"\b[A-Za-z0-9_-]{11,}:APA91b[A-Za-z0-9_-]{100,}",
    ),
    judged(
        "azure-key",
        "azure-key",
        &["AccountKey=", "SharedAccessKey=", "sig="],
        r"(?i)(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})|\bsig=(?P<sig>[A-Za-z0-9%+/]{30,}={0,2})",
        always,
    ),
    // Keys with Microsoft's mark of who issued them in it.
    exact(
        "azure-marked-key",
        "azure-key",
        &["+ASt", "ACDb", "+AEh", "+ASb", "AzFu", "AzSe", "AZDO", "JQQJ99"],
        r"\b(?:[A-Za-z0-9+/]{76}(?:\+ASt|ACDb)[A-Za-z0-9+/]{6}==|[A-Za-z0-9+/]{33}(?:\+AEh|\+ASb)[A-Za-z0-9+/]{6}=|[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{6,}={0,2}|[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}|[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{10,32})",
    ),
    judged(
        "azure-client-secret",
        "azure-key",
        &["Q~"],
        r"(?P<secret>[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})",
        is_azure_secret,
    ),
    exact(
        "github-token",
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    exact(
        "gitlab-token",
        "gitlab-token",
        &[
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glcbt-",
            "glptt-",
            "gloas-",
            "glft-",
            "glimt-",
            "glagent-",
            "glsoat-",
            "glffct-",
            "glwt-",
            "GR1348941",
        ],
        r"(?:gl(?:pat|dt|rt|rtr|cbt|ptt|oas|ft|imt|agent|soat|ffct|wt)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20})",
    ),
    exact("anthropic-key", "anthropic-key", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{20,}"),
    exact(
        "openai-project-key",
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-"],
        r"(?:sk-(?:proj|svcacct)|\bsk-admin)-[A-Za-z0-9_-]{40,}|sk-or-v1-[a-f0-9]{60,}",
    ),
    judged(
        "openai-key",
        "openai-key",
        &["sk-"],
        r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
        mixes_letters_and_digits,
    ),
    exact("huggingface-token", "huggingface-token", &["hf_"], r"hf_[A-Za-z0-9]{30,}\b"),
    exact(
        "slack-token",
        "slack-token",
        &[
            "xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxo-", "xoxe", "xapp-", "xwfp-",
        ],
        r"(?:xox[abcdoprs]|xoxe(?:\.xox[bp])?|xapp|xwfp)-[A-Za-z0-9%-]{10,}",
    ),
    exact(
        "slack-webhook",
        "slack-webhook",
        &["hooks.slack.com", "hooks.slack-gov.com"],
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,})",
    ),
    exact(
        "discord-webhook",
        "discord-webhook",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d+/[A-Za-z0-9_-]{30,})",
    ),
    // The first part is the bot's number, of 17 to 19 digits, in base64.
    judged(
        "discord-bot-token",
        "discord-token",
        &["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        r"\b(?:M[Tjz]|N[DTjz]|O[DT])[A-Za-z0-9_-]{21,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        mixes_letters_and_digits,
    ),
    exact(
        "teams-webhook",
        "teams-webhook",
        &["webhook.office.com"],
        r"webhook\.office\.com/webhookb2/(?P<secret>[A-Za-z0-9@/-]{40,})",
    ),
    exact(
        "stripe-key",
        "stripe-key",
        &[
            "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_", "sk_prod_", "rk_prod_", "whsec_",
        ],
        r"\b[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|[srp]k_(?:live|test|prod)_[A-Za-z0-9]{24,}|whsec_[A-Za-z0-9+/=]{20,}",
    ),
    exact(
        "braintree-token",
        "service-token",
        &["access_token$"],
        r"\baccess_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}\b",
    ),
    exact(
        "adyen-key",
        "service-token",
        &["AQE"],
        r"\bAQE[A-Za-z0-9+/]{25,}={0,2}-[A-Za-z0-9+/]{30,}={0,2}(?:-[^\s\x22\x27]{8,40})?",
    ),
    exact(
        "npm-token",
        "npm-token",
        &["npm_", "_authToken", "_auth"],
        r"npm_[A-Za-z0-9]{30,}\b|_auth(?:Token)?=(?P<secret>[^\s$\x22\x27]{8,})",
    ),
    exact("pypi-token", "pypi-token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    exact("twilio-key", "twilio-key", &["SK"], r"\bSK[0-9a-f]{32}\b"),
    exact(
        "telegram-token",
        "telegram-token",
        &[":AA"],
        r"(?:\b|bot)\d{8,10}:AA[A-Za-z0-9_-]{32,35}",
    ),
    exact(
        "sendgrid-key",
        "sendgrid-key",
        &["SG."],
        r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ),
    exact(
        "vault-token",
        "service-token",
        &["hvs.", "hvb.", "hvr."],
        r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
    ),
    exact(
        "terraform-token",
        "service-token",
        &[".atlasv1."],
        r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}",
    ),
    exact(
        "doppler-token",
        "service-token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}",
    ),
    exact(
        "dynatrace-token",
        "service-token",
        &["dt0c01."],
        r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    ),
    exact(
        "mapbox-token",
        "service-token",
        &["sk.eyJ"],
        r"\bsk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}",
    ),
    exact(
        "mailchimp-key",
        "service-token",
        &["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
        r"\b[a-f0-9]{32}-us[0-9]{1,2}\b",
    ),
    exact(
        "mailgun-private-key",
        "service-token",
        &["mailgun"],
        r"(?i)mailgun[^\n]{0,60}?\b(?P<secret>[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8})\b",
    ),
    exact(
        "airtable-token",
        "service-token",
        &["pat"],
        r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b",
    ),
    exact("new-relic-licence-key", "service-token", &["NRAL"], r"\b[a-f0-9]{36}NRAL\b"),
    exact(
        "jwt",
        "jwt",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{8,}(?:\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?|(?:\.[A-Za-z0-9_-]+){4}|\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{10,}){3})",
    ),
    // What crypt(3), htpasswd, LDAP and frameworks of the web keep of a password.
    exact(
        "password-hash",
        "password-hash",
        &[
            "$1$",
            "$5$",
            "$6$",
            "$y$",
            "$7$",
            "$gy$",
            "$apr1$",
            "$2a$",
            "$2b$",
            "$2x$",
            "$2y$",
            "$argon2",
            "$scrypt$",
            "{SHA",
            "{SSHA",
            "{CRYPT}",
            "pbkdf2_sha",
            "pbkdf2:sha",
            "scrypt:",
            "$1\\$",
            "$5\\$",
            "$6\\$",
            "$y\\$",
            "$apr1\\$",
            "$2a\\$",
            "$2b\\$",
            "$2y\\$",
        ],
        r"\$(?:1|apr1)\\?\$[./A-Za-z0-9]{1,8}\\?\$[./A-Za-z0-9]{22}|\$[56]\\?\$(?:rounds=\d{1,9}\\?\$)?[^\s$:]{1,16}\$[./A-Za-z0-9]{43,86}|\$2[abxy]\\?\$\d\d\\?\$[./A-Za-z0-9]{53}|\$(?:y|7|gy)\\?\$[./A-Za-z0-9]{1,20}\\?\$[./A-Za-z0-9]{0,86}\\?\$[./A-Za-z0-9]{43}|\$argon2(?:id|i|d)\$(?:v=\d+\$)?m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{16,}|\$scrypt\$ln=\d+,r=\d+,p=\d+\$[A-Za-z0-9+/.]{8,}\$[A-Za-z0-9+/.]{20,}|\{S?SHA(?:256|384|512)?\}[A-Za-z0-9+/]{27,}={0,2}|\{CRYPT\}[./A-Za-z0-9]{13}\b|\bpbkdf2_sha\d+\$\d+\$[A-Za-z0-9]{4,}\$[A-Za-z0-9+/]{27,}={0,2}|\bpbkdf2:sha\d+:\d+\$[A-Za-z0-9]{4,}\$[0-9a-f]{40,}|\bscrypt:\d+:\d+:\d+\$[A-Za-z0-9]{4,}\$[0-9a-f]{40,}",
    ),
    // Of Bitcoin in the form for import, and extended ones.
    judged(
        "wallet-key",
        "private-key",
        &[
            "5H", "5J", "5K", "Kw", "Kx", "Ky", "Kz", "L1", "L2", "L3", "L4", "L5", "xprv", "yprv", "zprv", "tprv",
        ],
        r"\b(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|(?:K[w-z]|L[1-5])[1-9A-HJ-NP-Za-km-z]{50}|[xyzt]prv[1-9A-HJ-NP-Za-km-z]{107,108})\b",
        looks_like_a_secret,
    ),
    judged(
        "kubernetes-secret",
        "kubernetes-secret",
        &["Secret"],
        r"(?m)^[ \t]*(?:-[ \t]+)?kind:[ \t]*[\x22\x27]?Secret[\x22\x27]?[ \t]*\r?\n(?:(?:[^\n-][^\n]*|-[^\n-][^\n]*)?\n){0,60}?[ \t]*(?:data|stringData):[ \t]*\r?\n[ \t]+(?P<secret>[^\s\[][^\n]*(?:\n[ \t]+[^\n]+)*)",
        is_manifest,
    ),
    judged(
        "kubernetes-secret-before-its-kind",
        "kubernetes-secret",
        &["Secret"],
        r"(?m)^[ \t]*(?:data|stringData):[ \t]*\r?\n[ \t]+(?P<secret>[^\s\[][^\n]*(?:\n[ \t]+[^\n]+)*?)\n[ \t]*kind:[ \t]*[\x22\x27]?Secret\b",
        is_manifest,
    ),
    judged(
        "kubernetes-secret-in-json",
        "kubernetes-secret",
        &["Secret"],
        r#""kind\\{0,3}"\s*:\s*\\{0,3}"Secret\\{0,3}"[^{}]*(?:"metadata\\{0,3}"\s*:\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}[^{}]*)?"(?:data|stringData)\\{0,3}"\s*:\s*\{\s*(?P<secret>[^{}\s\[][^{}]+)\}"#,
        is_manifest,
    ),
    judged(
        "kubernetes-secret-in-json-before-its-kind",
        "kubernetes-secret",
        &["Secret"],
        r#""(?:data|stringData)\\{0,3}"\s*:\s*\{\s*(?P<secret>[^{}\s\[][^{}]+)\}[^{}]*"kind\\{0,3}"\s*:\s*\\{0,3}"Secret\\{0,3}""#,
        is_manifest,
    ),
];
