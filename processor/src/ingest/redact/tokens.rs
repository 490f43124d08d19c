//! Tokens that say by how they begin whose they are: a line each, in order of kind and then of issuer. What an issuer documents
//! of its form stands here and nothing else; what has no telling beginning is found by the name beside it.

use super::rules::Rule;

/// A rule of one kind: of each token what it begins with, and a pattern of the rest.
macro_rules! tokens {
    ($kind:literal: $first:literal $rest:literal $(, $other:literal $other_rest:literal)* $(,)?) => {
        Rule {
            kind: $kind,
            anchors: &[$first $(, $other)*],
            pattern: concat!(r"\b(?:", $first, $rest $(, "|", $other, $other_rest)*, ")"),
            is_secret: super::judge::always,
        }
    };
}

/// Clouds, and what deploys to them.
pub(super) const CLOUDS: Rule = tokens!("cloud-token":
    "LTAI" r"[A-Za-z0-9]{16,24}\b",
    "dop_v1_" "[a-f0-9]{60,}",
    "doo_v1_" "[a-f0-9]{60,}",
    "dor_v1_" "[a-f0-9]{60,}",
    "HRKU-" "[A-Za-z0-9_-]{30,}",
    "dapi" r"[a-f0-9]{32}\b",
    "pscale_tkn_" "[A-Za-z0-9_.=-]{32,}",
    "pscale_pw_" "[A-Za-z0-9_.=-]{32,}",
    "pscale_oauth_" "[A-Za-z0-9_.=-]{32,}",
    "sbp_" r"[a-f0-9]{40}\b",
    "fo1_" "[A-Za-z0-9_-]{40,}",
    "nfp_" "[A-Za-z0-9]{36,}",
    "pul-" r"[a-f0-9]{40}\b",
    "dckr_pat_" "[A-Za-z0-9_-]{20,}",
    "dckr_oat_" "[A-Za-z0-9_-]{20,}",
    "tskey-" "[a-z]+-[A-Za-z0-9-]{20,}",
    "nvapi-" "[A-Za-z0-9_-]{40,}",
);

/// Forges, registries of packages, builds.
pub(super) const FORGES: Rule = tokens!("forge-token":
    "ATBB" r"[A-Za-z0-9]{28,}\b",
    "ATATT3" "[A-Za-z0-9_=-]{60,}",
    "bkua_" r"[a-f0-9]{40}\b",
    "CCIPAT_" "[A-Za-z0-9_]{40,}",
    "rubygems_" r"[a-f0-9]{48}\b",
    "cio" r"[A-Za-z0-9]{32}\b",
    "oy2" r"[a-z0-9]{43}\b",
    "CLOJARS_" "[a-z0-9]{50,}",
    "sgp_" "[a-f0-9_]{40,}",
);

/// All other services.
pub(super) const SERVICES: Rule = tokens!("service-token":
    "shpat_" "[a-fA-F0-9]{30,}",
    "shpca_" "[a-fA-F0-9]{30,}",
    "shppa_" "[a-fA-F0-9]{30,}",
    "shpss_" "[a-fA-F0-9]{30,}",
    "sq0atp-" "[A-Za-z0-9_-]{22,}",
    "sq0csp-" "[A-Za-z0-9_-]{22,}",
    "rzp_live_" "[A-Za-z0-9]{14,}",
    "rzp_test_" "[A-Za-z0-9]{14,}",
    "access-sandbox-" "[0-9a-f-]{36}",
    "access-production-" "[0-9a-f-]{36}",
    "EAACEdEose0cBA" "[A-Za-z0-9]+",
    "key-" r"[a-f0-9]{32}\b",
    "xkeysib-" "[a-f0-9]{60,}-[A-Za-z0-9]{16}",
    "sntrys_" "[A-Za-z0-9+/=_]{40,}",
    "sntryu_" "[A-Za-z0-9+/=_]{40,}",
    "NRAK-" r"[A-Z0-9]{27}\b",
    "glsa_" "[A-Za-z0-9_]{30,}",
    "glc_eyJ" "[A-Za-z0-9+/=]{30,}",
    "phx_" "[A-Za-z0-9]{30,}",
    "lsv2_" "[a-z]{2}_[a-f0-9_]{40,}",
    "lin_api_" "[A-Za-z0-9]{30,}",
    "ntn_" "[A-Za-z0-9]{40,}",
    "secret_" r"[A-Za-z0-9]{43}\b",
    "figd_" "[A-Za-z0-9_-]{30,}",
    "PMAK-" "[a-f0-9]{24}-[a-f0-9]{34}",
    "pat-na1-" "[0-9a-f-]{36}",
    "pat-eu1-" "[0-9a-f-]{36}",
    "CFPAT-" "[A-Za-z0-9_-]{40,}",
    "ops_eyJ" "[A-Za-z0-9+/=_-]{100,}",
    "AGE-SECRET-KEY-1" "[A-Z0-9]{50,}",
);

/// Tokens with what tells them inside, or a dot in it: of Vault, Terraform, Doppler, Dynatrace, Mapbox, Mailchimp.
pub(super) const DOTTED: Rule = Rule {
    kind: "service-token",
    anchors: &[
        "hvs.",
        "hvb.",
        ".atlasv1.",
        "dp.pt.",
        "dp.st.",
        "dp.ct.",
        "dp.sa.",
        "dt0c01.",
        "sk.eyJ",
        "-us1",
        "-us2",
        "-us3",
        "-us4",
        "-us5",
        "-us6",
        "-us7",
        "-us8",
        "-us9",
    ],
    pattern: concat!(
        r"\b(?:hv[sb]\.[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}|dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9._-]{30,}",
        r"|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}|sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}|[a-f0-9]{32}-us[0-9]{1,2}\b)",
    ),
    is_secret: super::judge::always,
};
