//! What is told by what is written around it.

use super::{Example, of};

/// One of each rule.
pub(super) const EXAMPLES: &[Example] = &[
    of(
        "sshpass",
        "the password given to sshpass",
        &["sshpass -p {typed} ssh box", "sshpass -p '{typed}' scp a b:"],
        &["sshpass -p $PASS ssh box", "sshpass -f file ssh box"],
    ),
    of(
        "mysql-password",
        "the password given to a command of MySQL or MariaDB",
        &["mysql -uroot -p{typed} shop", "mysqldump -h db -p'{typed}' shop"],
        &["mysql -u root -p shop", "mysql -h db -P 3306 -p$MYSQL shop"],
    ),
    of(
        "login-password",
        "the password given to a login of a registry or a cloud, or to a command of MongoDB",
        &[
            "docker login -u ada -p {typed} registry.example.org",
            "mongodump --host db -u ada -p {typed}",
        ],
        &[
            "docker run -p 8080:80 image",
            "docker login -u ada -p $TOKEN",
            "docker login --password-stdin",
        ],
    ),
    of(
        "redis-password",
        "the password given to redis-cli",
        &["redis-cli -h cache -a {typed} ping", "redis-cli -a '{typed}'"],
        &["redis-cli -h cache ping", "redis-cli -a $REDIS ping"],
    ),
    of(
        "ldap-password",
        "the password given to a command of LDAP",
        &["ldapsearch -x -D cn=ada -w {typed}", "ldapmodify -w '{typed}' -f x"],
        &["ldapsearch -x -W", "ldapsearch -w $LDAP -b dc=x"],
    ),
    of(
        "openssl-password",
        "the password given to openssl",
        &[
            "openssl pkcs12 -in a.p12 -passin pass:{typed}",
            "openssl rsa -passout pass:{typed} -in k",
        ],
        &["openssl rsa -passin env:PASS", "pass:fail 3:1"],
    ),
    of(
        "netrc",
        "passwords in netrc files",
        &[
            "machine example.org login ada password {typed}",
            "machine h\n  login ada\n  password {typed}",
        ],
        &["a machine that has a login and asks a password", "machine learning"],
    ),
    of(
        "pgpass",
        "passwords in pgpass files",
        &["db.example.org:5432:shop:ada:{typed}", "*:*:*:ada:{typed}"],
        &[
            "src/main.rs:5432:12: error",
            "localhost:5432",
            "postgres listens at db:5432:tcp",
        ],
    ),
    of(
        "registry-auth",
        "credentials in the settings of Docker and its like",
        &[r#"{"auths": {"r": {"auth": "{b40}"}}}"#, r#"{\"auth\": \"{b40}\"}"#],
        &[r#""auth": "basic""#, r#""auth": true"#],
    ),
    of(
        "recovery-phrase",
        "the words that a wallet is restored from",
        &[
            "seed phrase: {l4} {l5} {l6} {l4} {l5} {l6} {l4} {l5} {l6} {l4} {l5} {l8}",
            "mnemonic = \"{l4} {l5} {l6} {l4} {l5} {l6} {l4} {l5} {l6} {l4} {l5} {l8}\"",
        ],
        &["the mnemonic of an instruction", "mnemonic: a word that helps to remember"],
    ),
    of(
        "authorization",
        "the value of an `Authorization` header and of its like",
        &[
            "curl -H 'Authorization: token {A24}'",
            r#"{"Authorization": "Basic {b40}"}"#,
            "x-api-key: {A24}",
            "Authorization: SSWS 00{w40}",
            "PRIVATE-TOKEN: {A24}",
        ],
        &[
            "Authorization: Bearer $TOKEN",
            "authorization: implemented in the middleware",
            "the authorization header is missing",
        ],
    ),
    of(
        "bearer",
        "what follows `Bearer`",
        &["send it as Bearer {A36}", "bearer {h32}"],
        &["the bearer of this message", "Bearer authentication", "Bearer <token>"],
    ),
    of(
        "basic-auth",
        "what follows `Basic`",
        &["a header of Basic {b40}==", "basic {b40}"],
        &["a basic understanding of Basic Authentication", "Basic Understanding"],
    ),
    of(
        "cookie",
        "all of a `Cookie` or `Set-Cookie` header",
        &[
            "Cookie: theme=dark; session={A24}",
            "Set-Cookie: sid={A24}; Path=/",
            r#"{"cookie": "sid={A24}"}"#,
        ],
        &["Cookie: none", "the cookie: it crumbles"],
    ),
    of(
        "curl-cookie",
        "cookies given to curl",
        &[
            "curl -b 'session={A24}' https://example.org",
            "curl --cookie \"sid={A24}\" https://example.org",
        ],
        &["curl -b cookies.txt https://example.org", "git checkout -b name=value-of-it"],
    ),
    of(
        "curl-user",
        "user and password given to curl and its like",
        &["curl -u admin:{typed} https://example.org", "http --user ada:{typed} :8000"],
        &[
            "docker run -u 1000:1000 image",
            "curl -u admin https://example.org",
            "curl -u $USER:$PASS x",
        ],
    ),
    of(
        "url-password-unescaped",
        "the password in the URL of a database or a server, with signs in it that a URL would have escaped",
        &[
            "postgres://app:{A8}@{A8}/{A8}@db.example.org:5432/app",
            "amqp://ada:{A6}/{A10}@queue",
        ],
        &[
            "redis://cache:6379/0",
            "ftp://example.org:21/pub/a@b",
            "postgres://app:${PASSWORD}/x@db",
        ],
    ),
    of(
        "url-password",
        "the password in a URL",
        &[
            "postgres://app:{A24}@db.example.org:5432/app",
            "redis://:{A24}@cache:6379",
            "https://ada:{typed}@git.example.org/shop.git",
        ],
        &[
            "https://example.org:8080/a@b",
            "postgres://app:$PASSWORD@db/app",
            "http://localhost:3000",
        ],
    ),
    of(
        "url-token",
        "a token in a URL, in the place of the user (also the key in a Sentry DSN)",
        &[
            "https://{h32}@o123.ingest.example.org/456",
            "https://{A40}@git.example.org/shop.git",
        ],
        &[
            "ssh://git@git.example.org/shop.git",
            "docker://registry-of-our-own-team@sha256",
        ],
    ),
    of(
        "laravel-key",
        "the key of a Laravel application",
        &["APP_KEY=base64:{b43}=", "export APP_KEY=base64:{b43}="],
        &["APP_KEY=", "APP_KEY=base64:"],
    ),
    of(
        "passphrase",
        "a passphrase of several words",
        &[
            "passphrase: {l8} {l9} {l8} {l10}",
            "The passphrase is {l8} {l9} {l8} {l10}.",
            "passphrase: |\n  {l8} {l9} {l8} {l10}",
        ],
        &[
            "passphrase: leave it empty for none",
            "Enter passphrase (empty for no passphrase):",
            "the passphrase is asked again and again",
            "passphrase: string optional",
        ],
    ),
    of(
        "assignment",
        "the value of a name that tells of a secret, in any notation",
        &[
            "STRIPE_SECRET={A24}",
            "export DB_PASSWORD='{typed}!'",
            "  api_key: \"{A24}\"",
            r#""client_secret": "{A24}","#,
            "const accessToken = '{A24}';",
            "DD_APP_KEY={h40}",
            "HEROKU_API_KEY={uuid}",
            "aws_secret_access_key = {b40}",
        ],
        &[
            "password = getPassword()",
            "token: String",
            "password: Optional[str] = None",
            "token: ${{ secrets.GITHUB_TOKEN }}",
            "API_KEY=your-api-key-here",
            "max_tokens: 4096",
        ],
    ),
    of(
        "option",
        "the value of an option that tells of a secret",
        &[
            "psql --password={typed} app",
            "shop login --token {A24}",
            "wget --http-password={typed} x",
        ],
        &[
            "gh auth login --with-token",
            "--password <password>",
            "--token $TOKEN",
            "docker login --password-stdin",
        ],
    ),
    of(
        "xml-element",
        "the text of an element whose name tells of a secret, as in Maven's settings",
        &["<password>{A14}</password>", "<server>\n  <apiKey>{A24}</apiKey>\n</server>"],
        &[
            "<password>${env.PASSWORD}</password>",
            "<token></token>",
            "<secret name=\"db\"/>",
            "<password>password</password>",
        ],
    ),
    of(
        "pass",
        "a random value of the name `pass`",
        &["PASS={A24}", "{\"user\": \"ada\", \"pass\": \"{A24}\"}"],
        &[
            "pass: 12 of 14",
            "PASS: tests/e2e/login.rs",
            "--- PASS: TestRounds2LinesOf3 (0.00s)",
            "let pass = walk(&tree);",
        ],
    ),
    of(
        "login-call",
        "a random second argument of a login in code",
        &[
            "session.login('ada', '{A24}')",
            "client.authenticate(\"ada@example.org\", \"{A24}\")",
        ],
        &[
            "login('ada', 'password')",
            "login(\"ada\", password)",
            "sign_in('ada', 'remember_me')",
        ],
    ),
    of(
        "spoken-password",
        "a password in a sentence, in a dozen languages",
        &[
            "the password is {typed}!",
            "The password for the staging server is {typed}",
            "Das Passwort lautet {typed}",
            "密码是 {typed}",
        ],
        &[
            "the password is wrong",
            "the password is required",
            "Enter password: it is shown as dots",
        ],
    ),
    of(
        "high-entropy",
        "a random text close behind a word that tells of a secret",
        &["here is the token you asked for: {A36}", "your new api key -> {A40}"],
        &[
            "the token of commit {h40}",
            "the secret of session {uuid}",
            "a token in src/auth/token_store.rs",
        ],
    ),
];
