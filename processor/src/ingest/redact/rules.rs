//! The table of what is a secret: here what a shape tells, wherever it stands; in [`super::tokens`] what its beginning tells; in
//! [`super::written`] what is told by what is written around it. Order matters where two rules could take the same text: the
//! exact ones stand first. A find is judged by [`super::judge`].

use super::judge::{Found, always, is_azure_secret, looks_like_a_secret, mixes_letters_and_digits};

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
        r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    ),
    exact(
        "aws-session-token",
        "aws-key",
        &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"],
        r"\b(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/=%]{60,}",
    ),
    exact("gcp-key", "gcp-key", &["AIza"], r"\bAIza[0-9A-Za-z_-]{35}"),
    exact(
        "gcp-token",
        "gcp-token",
        &["ya29.", "GOCSPX-", "1//0", "4/0A"],
        r"\b(?:ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{20,}|1//0[0-9A-Za-z_-]{30,}|4/0A[0-9A-Za-z_-]{40,})",
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
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
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
        r"\b(?:gl(?:pat|dt|rt|rtr|cbt|ptt|oas|ft|imt|agent|soat|ffct|wt)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20})",
    ),
    exact("anthropic-key", "anthropic-key", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    exact(
        "openai-project-key",
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-"],
        r"\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|or-v1-[a-f0-9]{60,})",
    ),
    judged(
        "openai-key",
        "openai-key",
        &["sk-"],
        r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
        mixes_letters_and_digits,
    ),
    exact("huggingface-token", "huggingface-token", &["hf_"], r"\bhf_[A-Za-z0-9]{30,}\b"),
    exact(
        "slack-token",
        "slack-token",
        &[
            "xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxo-", "xoxe", "xapp-", "xwfp-",
        ],
        r"\b(?:xox[abcdoprs]|xoxe(?:\.xox[bp])?|xapp|xwfp)-[A-Za-z0-9%-]{10,}",
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
        r"\b(?:[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})",
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
        r"\bnpm_[A-Za-z0-9]{30,}\b|_auth(?:Token)?=(?P<secret>[^\s$\x22\x27]{8,})",
    ),
    exact("pypi-token", "pypi-token", &["pypi-AgE"], r"\bpypi-AgE[A-Za-z0-9_-]{40,}"),
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
        r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}",
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
        r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}",
    ),
    exact(
        "dynatrace-token",
        "service-token",
        &["dt0c01."],
        r"\bdt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
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
        r"\beyJ[A-Za-z0-9_-]{8,}(?:\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?|(?:\.[A-Za-z0-9_-]+){4}|\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{10,}){3})",
    ),
];
