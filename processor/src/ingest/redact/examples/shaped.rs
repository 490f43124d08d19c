//! What a shape tells.

use super::{Example, of};

/// One of each rule.
pub(super) const EXAMPLES: &[Example] = &[
    of(
        "pem-key",
        "private keys in PEM, of every kind (RSA, EC, DSA, OpenSSH, encrypted, PGP), also in one line and cut off",
        &[
            "-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b64}\n-----END RSA PRIVATE KEY-----",
            "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n{b64}\\n-----END PRIVATE KEY-----\\n\"",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{b64}\n",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{b64}\n-----END PGP PRIVATE KEY BLOCK-----",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\n{b64}\n-----END ENCRYPTED PRIVATE KEY-----",
        ],
        &[
            "-----BEGIN CERTIFICATE-----\n{b64}\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----\n{b64}\n-----END PUBLIC KEY-----",
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{b64}\n-----END PGP PUBLIC KEY BLOCK-----",
            "-----BEGIN PGP SIGNATURE-----\n{b64}\n-----END PGP SIGNATURE-----",
        ],
    ),
    of(
        "ssh2-key",
        "private keys of commercial SSH",
        &[
            "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{b64}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
            "---- BEGIN SSH2 PRIVATE KEY ----\n{b64}\n",
        ],
        &[
            "---- BEGIN SSH2 PUBLIC KEY ----\n{b64}\n---- END SSH2 PUBLIC KEY ----",
            "---- BEGIN SSH2 is how such a file starts",
        ],
    ),
    of(
        "putty-key",
        "private keys of PuTTY",
        &[
            "Private-Lines: 2\n{b64}\n{b64}\nPrivate-MAC: {h40}",
            "PuTTY-User-Key-File-3: ssh-rsa\\nPrivate-Lines: 1\\n{b64}\\nPrivate-MAC: {h64}",
        ],
        &[
            "Public-Lines: 2\n{b64}\n{b64}\n",
            "the header Private-Lines: says how many follow",
        ],
    ),
    of(
        "pem-key-end",
        "the rest of a private key in PEM whose head was cut away",
        &[
            "{b64}\n{b64}\n{b64}\n-----END RSA PRIVATE KEY-----",
            "{b64}\\n{b40}==\\n-----END PRIVATE KEY-----\\n",
        ],
        &[
            "{b64}\n{b40}==\n-----END CERTIFICATE-----",
            "it ends with -----END PRIVATE KEY-----",
        ],
    ),
    of(
        "pem-key-in-base64",
        "a private key in PEM, in base64 again, as in a kubeconfig",
        &[
            "key: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo{b80}",
            "client-key-data: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCg{b80}",
        ],
        &[
            "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk{b80}",
            "cert: LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0K{b80}",
        ],
    ),
    of(
        "jwk-key",
        "the private parts of a JSON Web Key",
        &[
            r#"{"kty":"EC","crv":"P-256","d":"{w43}"}"#,
            r#"{"kty": "oct", "alg": "HS256", "k": "{w43}"}"#,
        ],
        &[
            r#"{"kty":"RSA","e":"AQAB","n":"{w80}"}"#,
            r#"{"kty":"EC","x":"{w43}","y":"{w43}"}"#,
        ],
    ),
    of(
        "aws-secret-beside-its-key",
        "a secret access key of AWS right after its id, as in the console's CSV",
        &["AKIA{U16},{b40}", "ASIA{U16}:{b40}"],
        &["AKIA of the {h40} commit", "arn:aws:iam::{d12}:role/{l20}"],
    ),
    of(
        "aws-key",
        "ids of access keys of AWS, the documented example keys as well",
        &["AKIA{U16}", "aws_access_key_id = ASIA{U16}", "profile (ABIA{U16})"],
        &["AROA{U16}", "AKIA", "an AKIAS{U16}{U9} of another length"],
    ),
    of(
        "aws-session-token",
        "session tokens of AWS",
        &["IQoJb3JpZ2luX2Vj{b200}", "FwoGZXIvYXdz{b200}"],
        &["IQoJb3JpZ2lu", "origin in base64 is IQoJb3JpZ2luX2Vj"],
    ),
    of(
        "gcp-key",
        "API keys of Google (Maps, Firebase, Gemini)",
        &["AIza{w35}", "https://maps.example.org/js?key=AIza{w35}&v=3"],
        &["AIza", "AIza{A20}"],
    ),
    of(
        "gcp-token",
        "OAuth access tokens, refresh tokens, codes and client secrets of Google",
        &["ya29.{w80}", "GOCSPX-{w28}", "1//0{w60}", "4/0A{w60}"],
        &["ya29.short", "GOCSPX-id", "1//0 is a division"],
    ),
    of(
        "firebase-server-key",
        "server keys of Firebase Cloud Messaging",
        &["AAAA{A7}:APA91b{w134}", "use AAAA{w7}:APA91b{w134} as key"],
        &[":APA91b", "c:APA91b{A20}"],
    ),
    of(
        "azure-key",
        "keys in Azure's connection strings, and signatures of shared access",
        &[
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={b86}==;",
            "Endpoint=sb://x.example.org/;SharedAccessKey={b43}=",
            "https://x.example.org/c?sv=2024&sig={A42}%3D",
        ],
        &["AccountKey=<key>", "the parameter ?sig= is missing", "SharedAccessKey=short"],
    ),
    of(
        "azure-marked-key",
        "keys of Azure's storage, databases, functions, search, DevOps and AI services that hold Microsoft's mark",
        &[
            "{A76}+AStAAAAAA==",
            "{A76}ACDbAAAAAA==",
            "{A42}AzSeA{A5}",
            "{A76}AZDO{A4}",
            "{A52}JQQJ99{A26}",
        ],
        &["AZDO", "the AzFu of a name", "JQQJ99"],
    ),
    of(
        "azure-client-secret",
        "client secrets of Microsoft Entra",
        &["{A3}8Q~{A34}", "a value of {A3}7Q~{w31}"],
        &["Q~ and no more", "8Q~{A10}"],
    ),
    of(
        "github-token",
        "tokens of GitHub: personal, fine-grained, OAuth, of apps, installations and refreshes",
        &[
            "ghp_{A36}",
            "gho_{A36}",
            "ghu_{A36}",
            "ghs_{A36}",
            "ghr_{A76}",
            "github_pat_{A22}_{A59}",
            "tokenXghp_{A36}",
        ],
        &[
            "ghp_token",
            "ghs_{h12}",
            "github_pat_name",
            "TestHighs_OfAllTheSessionsThatWereReadBefore",
        ],
    ),
    of(
        "gitlab-token",
        "tokens of GitLab: personal, of projects, deployments, runners, jobs, triggers, agents, feeds",
        &[
            "glpat-{w20}",
            "gldt-{w20}",
            "glrt-{w20}",
            "glcbt-{h2}_{w20}",
            "glptt-{h40}",
            "glagent-{w50}",
            "GR1348941{w20}",
        ],
        &["glpat-short", "glrt-name", "GR1348941"],
    ),
    of(
        "anthropic-key",
        "keys of Anthropic",
        &["sk-ant-api03-{w93}AA", "sk-ant-oat01-{w93}AA", "sk-ant-admin01-{w93}AA"],
        &["sk-ant-name", "sk-ant-"],
    ),
    of(
        "openai-project-key",
        "keys of OpenAI of projects, services and administrators; keys of OpenRouter",
        &[
            "sk-proj-{w74}T3BlbkFJ{w74}",
            "sk-svcacct-{w74}T3BlbkFJ{w74}",
            "sk-or-v1-{h64}",
        ],
        &["sk-proj-name", "sk-or-v1-{h12}"],
    ),
    of(
        "openai-key",
        "keys of OpenAI, DeepSeek, Langfuse and others that begin alike",
        &["sk-{A20}T3BlbkFJ{A20}", "sk-{h32}", "sk-lf-{uuid}"],
        &[
            ".sk-cube-grid-with-a-long-name-for-loading",
            "a risk-based approach and risk-assessment-of-the-whole-system",
            "sk-learn",
        ],
    ),
    of(
        "huggingface-token",
        "tokens of Hugging Face",
        &["hf_{l34}", "HF_HOME=/x hf_{A34}"],
        &["hf_hub_download", "hf_{A10}"],
    ),
    of(
        "slack-token",
        "tokens of Slack: of bots, users, apps, refreshes, and the browser's",
        &[
            "xoxb-{d12}-{d12}-{A24}",
            "xoxp-{d12}-{d12}-{d12}-{h32}",
            "xoxc-{d12}-{d12}-{d12}-{h64}",
            "xoxd-{A40}%2B{A20}",
            "xoxe.xoxp-1-{A60}",
            "xapp-1-A{U10}-{d13}-{h64}",
        ],
        &["xoxb-", "tokens begin with xoxp-…", "xapp-name"],
    ),
    of(
        "slack-webhook",
        "the secret of Slack's webhooks",
        &[
            "https://hooks.slack.com/services/T{U8}/B{U8}/{A24}",
            "https://hooks.slack.com/triggers/T{U8}/{d13}/{h32}",
        ],
        &["https://hooks.slack.com/services", "hooks.slack.com/docs"],
    ),
    of(
        "discord-webhook",
        "the secret of Discord's webhooks",
        &[
            "https://discord.com/api/webhooks/{d18}/{w68}",
            "https://discordapp.com/api/webhooks/{d18}/{w68}",
        ],
        &["https://discord.com/api/webhooks/", "/api/webhooks/{d18}"],
    ),
    of(
        "discord-bot-token",
        "tokens of Discord's bots",
        &["MT{A24}.G{A5}.{w38}", "Nz{A24}.{A6}.{w27}"],
        &["NT.kernel.module", "Mjolnir.config.json", "MT{A24}"],
    ),
    of(
        "teams-webhook",
        "the secret of Microsoft Teams' webhooks",
        &[
            "https://x.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{h32}/{uuid}",
            "webhook.office.com/webhookb2/{uuid}@{uuid}",
        ],
        &["https://x.webhook.office.com/", "webhook.office.com/webhookb2/<id>"],
    ),
    of(
        "stripe-key",
        "keys of Stripe (and Paystack), live and of tests, and secrets of webhooks",
        &["sk_live_{A24}", "rk_test_{A24}", "pk_live_{A24}", "whsec_{A32}"],
        &["sk_live_", "sk_test_key", "whsec_<secret>"],
    ),
    of(
        "braintree-token",
        "access tokens of Braintree and PayPal",
        &["access_token$production${a16}${h32}", "access_token$sandbox${a16}${h32}"],
        &["access_token$env", "echo $access_token$suffix"],
    ),
    of(
        "adyen-key",
        "API keys of Adyen",
        &["AQE{A45}-{A43}=-{A16}", "AQEyhm{A40}-{A43}="],
        &["AQE", "AQE{A12}-name"],
    ),
    of(
        "npm-token",
        "tokens of npm and of its settings file",
        &["npm_{A36}", "//registry.example.org/:_authToken={A24}", "_auth={b40}="],
        &["npm_config_registry", "//registry.example.org/:_authToken=${NPM_TOKEN}"],
    ),
    of(
        "pypi-token",
        "tokens of the Python package index",
        &["pypi-AgEIcHlwaS5vcmc{w70}", "pypi-AgENdGVzdC5weXBp{w70}"],
        &["pypi-server", "pypi-AgE"],
    ),
    of(
        "twilio-key",
        "keys of Twilio",
        &["SK{h32}", "the key SK{h32} of staging"],
        &["SK{h12}", "TASK{h32}"],
    ),
    of(
        "telegram-token",
        "tokens of Telegram's bots",
        &["{d10}:AA{w33}", "https://api.example.org/bot{d9}:AA{w33}/send"],
        &["12:AA", "{d10}:AA{A5}"],
    ),
    of(
        "sendgrid-key",
        "keys of SendGrid",
        &["SG.{w22}.{w43}", "use SG.{w22}.{w43} there"],
        &["SG.name.rs", "SG."],
    ),
    of(
        "vault-token",
        "tokens of Vault",
        &["hvs.{w90}", "hvb.{w138}", "hvr.{w40}"],
        &["hvs.rs", "hvb.{A8}"],
    ),
    of(
        "terraform-token",
        "tokens of Terraform Cloud",
        &["{A14}.atlasv1.{w67}", "token \"{A14}.atlasv1.{w67}\""],
        &["x.atlasv1.name", "{A14}.atlasv1."],
    ),
    of(
        "doppler-token",
        "tokens of Doppler",
        &["dp.pt.{A43}", "dp.st.dev.{A43}", "dp.scim.{A43}"],
        &["dp.st.rs", "dp.pt.name"],
    ),
    of(
        "dynatrace-token",
        "tokens of Dynatrace",
        &["dt0c01.{U24}.{U64}", "Api-Key dt0c01.{U24}.{U64}"],
        &["dt0c01.", "dt0c01.{U24}"],
    ),
    of(
        "mapbox-token",
        "secret tokens of Mapbox",
        &["sk.eyJ{w60}.{w22}", "token: sk.eyJ{w60}.{w22}"],
        &["sk.eyJ", "sk.eyJ{w10}"],
    ),
    of(
        "mailchimp-key",
        "keys of Mailchimp",
        &["{h32}-us12", "{h32}-us7"],
        &["eu-us1", "{h8}-us12"],
    ),
    of(
        "mailgun-private-key",
        "private keys of Mailgun, beside its name",
        &["mailgun: {h32}-{h8}-{h8}", "MAILGUN_KEY={h32}-{h8}-{h8}"],
        &["mailgun {h32}", "trace {h32}-{h8}-{h8}"],
    ),
    of(
        "airtable-token",
        "tokens of Airtable",
        &["pat{A14}.{h64}", "Airtable has pat{A14}.{h64}"],
        &["path.to.{h64}", "pattern.rs"],
    ),
    of(
        "new-relic-licence-key",
        "licence keys of New Relic",
        &["{h36}NRAL", "license {h36}NRAL ok"],
        &["NRAL", "{h12}NRAL"],
    ),
    of(
        "jwt",
        "JSON Web Tokens, signed and encrypted",
        &[
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOi{A40}.{w43}",
            "eyJhbGciOiJSU0EtT0FFUCJ9.{w80}.{w16}.{w60}.{w22}",
            "eyJhbGciOiJkaXIifQ..{w16}.{w60}.{w22}",
        ],
        &["eyJhbGciOiJIUzI1NiJ9", "cursor: eyJpZCI6MTB9"],
    ),
    of(
        "password-hash",
        "hashes of passwords: of crypt(3), htpasswd, bcrypt, scrypt, Argon2, LDAP, Django, Werkzeug",
        &[
            "$6${A8}${A86}",
            "$2b$12${A53}",
            "ada:$apr1${A8}${A22}",
            "$argon2id$v=19$m=65536,t=3,p=4${A22}${A43}",
            "userPassword: {SSHA}{A32}",
            "pbkdf2_sha256$600000${A22}${A43}=",
            "scrypt:32768:8:1${A16}${h64}",
        ],
        &[
            "it cost $6 and $5",
            "$2b or not $2b",
            "hash it with argon2id",
            "{SHA256} of the file",
        ],
    ),
    of(
        "wallet-key",
        "private keys of Bitcoin in the form for import, and extended ones",
        &["5J{s49}", "L4{s50}", "xprv9{s106}"],
        &["1{s33}", "the L1 cache, L2 and 5K", "xpub6{s106}"],
    ),
    of(
        "kubernetes-secret",
        "all that a manifest of a Kubernetes secret holds",
        &[
            "kind: Secret\nmetadata:\n  name: shop\ndata:\n  conn: {A40}\n  other: {A24}\n",
            "kind: Secret\nstringData:\n  conn: {typed}",
            "apiVersion: v1\nkind: Secret\ntype: Opaque\ndata:\n  a: {A16}\nstringData:\n  b: {typed}",
        ],
        &[
            "kind: ConfigMap\ndata:\n  level: debug7-{A8}",
            "kind: Secret\ndata:\n  conn: {{ .Values.conn | b64enc }}",
            "kind: Secret\nmetadata:\n  name: shop\n---\nkind: ConfigMap\ndata:\n  level: debug",
        ],
    ),
    of(
        "kubernetes-secret-before-its-kind",
        "the same in the order of kubectl",
        &[
            "apiVersion: v1\ndata:\n  conn: {A40}\n  other: {A24}\nkind: Secret\nmetadata:\n  name: shop",
            "items:\n- apiVersion: v1\n  data:\n    conn: {A40}\n  kind: Secret",
        ],
        &[
            "apiVersion: v1\ndata:\n  level: debug\nkind: ConfigMap\n",
            "data:\n  conn: ${CONN}\nkind: Secret",
        ],
    ),
    of(
        "kubernetes-secret-in-json",
        "the same in JSON",
        &[
            "{\"kind\": \"Secret\", \"metadata\": {\"name\": \"shop\"}, \"data\": {\"conn\": \"{A40}\"}}",
            "{\"kind\":\"Secret\",\"stringData\":{\"conn\":\"{typed}\"}}",
        ],
        &[
            "{\"kind\": \"Secret\", \"data\": {}}",
            "{\"kind\": \"ConfigMap\", \"data\": {\"level\": \"debug7\"}}",
        ],
    ),
    of(
        "kubernetes-secret-in-json-before-its-kind",
        "the same in JSON in the order of kubectl",
        &[
            "{\"apiVersion\": \"v1\", \"data\": {\n  \"conn\": \"{A40}\"\n}, \"kind\": \"Secret\"}",
            "{\"stringData\":{\"conn\":\"{typed}\"},\"kind\":\"Secret\"}",
        ],
        &[
            "{\"data\": {\"level\": \"debug7\"}, \"kind\": \"ConfigMap\"}",
            "{\"data\": {\"conn\": \"${CONN}\"}, \"kind\": \"Secret\"}",
        ],
    ),
];
