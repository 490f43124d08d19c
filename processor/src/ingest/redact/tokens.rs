//! Tokens that say by how they begin whose they are: a line each, in order of kind and then of issuer. What an issuer documents
//! of its form stands here and nothing else; what has no telling beginning is found by the name beside it.

/// Tokens of one issuer.
pub(super) struct Token {
    /// What the documentation calls it.
    #[cfg_attr(not(test), expect(dead_code, reason = "the documentation is checked by the tests"))]
    pub(super) name: &'static str,
    /// What the placeholder calls it.
    pub(super) kind: &'static str,
    /// What such a token begins with: one of these, as it stands.
    pub(super) begins: &'static [&'static str],
    /// A pattern of the rest.
    pub(super) rest: &'static str,
}

impl Token {
    /// A pattern of the whole token. A beginning that tells by itself may stand behind a letter, too.
    pub(super) fn pattern(&self) -> String {
        let begins: Vec<String> = self.begins.iter().map(|begin| bordered(begin)).collect();
        format!(r"(?:{})(?:{})", begins.join("|"), self.rest)
    }
}

/// Beginnings that words end with.
const ENDS_OF_WORDS: &[&str] = &["key-", "sdk-", "live_", "secret_", "nfo_"];

fn bordered(begin: &str) -> String {
    let tells = begin.len() >= 4 && begin.ends_with(['_', '-', '.']) && !ENDS_OF_WORDS.contains(&begin);
    let border = if tells { "" } else { r"\b" };
    border.to_owned() + &regex::escape(begin)
}

/// The kinds of [`TOKENS`]. Tokens of one kind are searched together.
pub(super) const KINDS: &[&str] = &["cloud-token", "forge-token", "ai-key", "service-token"];

const fn cloud(name: &'static str, begins: &'static [&'static str], rest: &'static str) -> Token {
    let kind = KINDS[0];
    Token {
        name,
        kind,
        begins,
        rest,
    }
}

const fn forge(name: &'static str, begins: &'static [&'static str], rest: &'static str) -> Token {
    let kind = KINDS[1];
    Token {
        name,
        kind,
        begins,
        rest,
    }
}

const fn ai(name: &'static str, begins: &'static [&'static str], rest: &'static str) -> Token {
    let kind = KINDS[2];
    Token {
        name,
        kind,
        begins,
        rest,
    }
}

const fn service(name: &'static str, begins: &'static [&'static str], rest: &'static str) -> Token {
    let kind = KINDS[3];
    Token {
        name,
        kind,
        begins,
        rest,
    }
}

/// All of them.
pub(super) const TOKENS: &[Token] = &[
    // Clouds, and what deploys to them.
    cloud("alibaba-key", &["LTAI"], r"[A-Za-z0-9]{16,24}\b"),
    cloud("cloudflare-token", &["cfk_", "cfut_", "cfat_"], "[A-Za-z0-9_-]{40,}"),
    cloud("cloudflare-origin-key", &["v1.0-"], "[a-f0-9]{24}-[a-f0-9]{146}"),
    cloud("databricks-token", &["dapi"], r"[a-f0-9]{32}(?:-\d)?\b"),
    cloud("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], "[a-f0-9]{60,}"),
    cloud("docker-token", &["dckr_pat_", "dckr_oat_"], "[A-Za-z0-9_-]{20,}"),
    cloud("fly-token", &["fo1_", "fm1a_", "fm1r_", "fm2_"], "[A-Za-z0-9+/=_-]{40,}"),
    cloud("heroku-token", &["HRKU-"], "[A-Za-z0-9_-]{30,}"),
    cloud(
        "netlify-token",
        &["nfp_", "nfc_", "nfo_", "nfb_", "nfu_"],
        r"[A-Za-z0-9]{36,}\b",
    ),
    cloud("openshift-token", &["sha256~"], r"[A-Za-z0-9_-]{43}"),
    cloud(
        "planetscale-token",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        "[A-Za-z0-9_.=-]{32,}",
    ),
    cloud("pulumi-token", &["pul-"], r"[a-f0-9]{40}\b"),
    cloud("scalingo-token", &["tk-us-"], "[A-Za-z0-9_-]{40,}"),
    cloud("supabase-token", &["sbp_"], r"(?:v0_)?[a-f0-9]{40}\b"),
    cloud("supabase-key", &["sb_secret_"], "[A-Za-z0-9_-]{20,}"),
    cloud("tailscale-key", &["tskey-"], "[a-z]+-[A-Za-z0-9-]{20,}"),
    cloud(
        "vercel-token",
        &["vcp_", "vci_", "vca_", "vcr_", "vck_"],
        r"[A-Za-z0-9]{24,}\b",
    ),
    cloud("vercel-blob-token", &["vercel_blob_rw_"], "[A-Za-z0-9_]{30,}"),
    // Forges, registries of packages, builds.
    forge("atlassian-token", &["ATATT3"], "[A-Za-z0-9_=-]{60,}"),
    forge("bitbucket-password", &["ATBB"], r"[A-Za-z0-9]{28,}\b"),
    forge("bitbucket-token", &["ATCTT3"], "[A-Za-z0-9_=-]{60,}"),
    forge("bitbucket-server-token", &["BBDC-"], "[A-Za-z0-9+/]{40,}={0,2}"),
    forge("buildkite-token", &["bkua_"], r"[a-f0-9]{40}\b"),
    forge("circleci-token", &["CCIPAT_", "CCIPRJ_"], "[A-Za-z0-9_]{40,}"),
    forge("clojars-token", &["CLOJARS_"], "[a-z0-9]{50,}"),
    forge("cargo-token", &["cio"], r"[A-Za-z0-9]{32}\b"),
    forge("jfrog-key", &["AKCp"], r"[A-Za-z0-9]{65,73}\b"),
    forge("jfrog-token", &["cmVmdGtuO"], r"[A-Za-z0-9]{55}\b"),
    forge("nuget-key", &["oy2"], r"[a-z0-9]{43}\b"),
    forge("rubygems-key", &["rubygems_"], r"[a-f0-9]{48}\b"),
    forge("sonarqube-token", &["squ_", "sqp_", "sqa_"], r"[a-f0-9]{40}\b"),
    forge("sourcegraph-token", &["sgp_"], "[a-f0-9_]{40,}"),
    // Providers of models, and services about them.
    ai("bedrock-key", &["ABSKQmVkcm9ja0FQSUtleS"], "[A-Za-z0-9+/=]{60,}"),
    ai("cerebras-key", &["csk-"], "[a-z0-9]{40,}"),
    ai("cursor-key", &["crsr_"], r"[a-f0-9]{64}\b"),
    ai("elevenlabs-key", &["sk_"], r"[a-f0-9]{48}\b"),
    ai("firecrawl-key", &["fc-"], r"[a-f0-9]{32}\b"),
    ai("fireworks-key", &["fw_"], r"[A-Za-z0-9]{20,30}\b"),
    ai("gemini-key", &["AQ.Ab"], "[A-Za-z0-9_-]{40,}"),
    ai("groq-key", &["gsk_"], "[A-Za-z0-9]{40,}"),
    ai("huggingface-organisation-token", &["api_org_"], r"[A-Za-z0-9]{30,}\b"),
    ai("jina-key", &["jina_"], "[A-Za-z0-9_-]{50,}"),
    ai("langsmith-key", &["lsv2_"], "[a-z]{2}_[a-f0-9_]{40,}"),
    ai("nvidia-key", &["nvapi-"], "[A-Za-z0-9_-]{40,}"),
    ai("perplexity-key", &["pplx-"], "[A-Za-z0-9]{40,}"),
    ai("pinecone-key", &["pcsk_"], "[A-Za-z0-9_]{50,}"),
    ai("replicate-token", &["r8_"], "[A-Za-z0-9]{30,}"),
    ai("tavily-key", &["tvly-"], r"(?:(?:dev|prod)-)?[A-Za-z0-9-]{30,}\b"),
    ai("together-key", &["tgp_v1_"], "[A-Za-z0-9_-]{30,}"),
    ai("voyage-key", &["pa-"], r"[A-Za-z0-9_-]{43}\b"),
    ai("xai-key", &["xai-"], "[A-Za-z0-9]{60,}"),
    // All other services.
    service("1password-token", &["ops_eyJ"], "[A-Za-z0-9+/=_-]{100,}"),
    service(
        "1password-secret-key",
        &["A3-"],
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b",
    ),
    service("age-key", &["AGE-SECRET-KEY-1"], "[A-Z0-9]{50,}"),
    service("age-plugin-key", &["AGE-PLUGIN-"], "[A-Z0-9]+-1[A-Z0-9]{30,}"),
    service("brevo-key", &["xkeysib-"], "[a-f0-9]{60,}-[A-Za-z0-9]{16}"),
    service("contentful-token", &["CFPAT-"], "[A-Za-z0-9_-]{40,}"),
    service("dropbox-token", &["sl."], "(?:u\\.)?[A-Za-z0-9_-]{100,}"),
    service("facebook-token", &["EAACEdEose0cBA", "EAAM", "EAAC"], "[A-Za-z0-9]{60,}"),
    service("figma-token", &["figd_", "figo_", "figu_"], "[A-Za-z0-9_-]{30,}"),
    service("flutterwave-key", &["FLWSECK-", "FLWSECK_TEST-"], "[A-Za-z0-9]{12,}-X"),
    service("grafana-token", &["glsa_"], "[A-Za-z0-9_]{30,}"),
    service("grafana-cloud-token", &["glc_eyJ"], "[A-Za-z0-9+/=]{30,}"),
    service("grafana-key", &["eyJrIjoi"], "[A-Za-z0-9+/=]{60,}"),
    service("honeycomb-key", &["hcaik_", "hcamk_", "hcxik_", "hcxmk_"], "[a-z0-9]{30,}"),
    service("hubspot-token", &["pat-na1-", "pat-na2-", "pat-eu1-"], "[0-9a-f-]{36}"),
    service(
        "launchdarkly-key",
        &["sdk-"],
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    ),
    service("linear-key", &["lin_api_", "lin_oauth_"], "[A-Za-z0-9]{30,}"),
    service("mailgun-key", &["key-"], r"[a-f0-9]{32}\b"),
    service("mandrill-key", &["md-"], r"[A-Za-z0-9_]{22}\b"),
    service("mollie-key", &["live_"], r"[A-Za-z0-9]{30,}\b"),
    service("new-relic-user-key", &["NRAK-"], r"[A-Z0-9]{27}\b"),
    service("new-relic-insert-key", &["NRII-"], "[A-Za-z0-9_-]{32}"),
    service("notion-token", &["ntn_"], "[A-Za-z0-9]{40,}"),
    service("notion-secret", &["secret_"], r"[A-Za-z0-9]{43}\b"),
    service(
        "plaid-token",
        &["access-sandbox-", "access-development-", "access-production-"],
        "[0-9a-f-]{36}",
    ),
    service("posthog-key", &["phx_"], "[A-Za-z0-9]{30,}"),
    service("postman-key", &["PMAK-"], "[a-f0-9]{24}-[a-f0-9]{34}"),
    service("prefect-key", &["pnu_", "pnb_"], r"[A-Za-z0-9]{36}\b"),
    service("razorpay-key", &["rzp_live_", "rzp_test_"], "[A-Za-z0-9]{14,}"),
    service("resend-key", &["re_"], r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b"),
    service("sentry-token", &["sntrys_", "sntryu_"], "[A-Za-z0-9+/=_]{40,}"),
    service(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shpua_"],
        "[a-fA-F0-9]{30,}",
    ),
    service("square-token", &["sq0atp-", "sq0csp-"], "[A-Za-z0-9_-]{22,}"),
    service("square-access-token", &["EAAAE", "EAAAl"], r"[A-Za-z0-9_-]{56,64}\b"),
    service("typeform-token", &["tfp_"], "[A-Za-z0-9_.=-]{40,}"),
];
