//! What people write down in passing.

use super::{Example, of};

/// One of each rule.
pub(super) const EXAMPLES: &[Example] = &[
    of(
        "piped-password",
        "a password that `echo` or `printf` gives to a command that asks for one",
        &[
            "echo {typed} | sudo -S apt-get update",
            "echo '{typed}' | docker login -u ada --password-stdin registry.example.org",
            "printf '%s\\n' \"{typed}\" | sudo -k -S true",
            "echo ada:{typed} | chpasswd",
        ],
        &[
            "echo \"$PW\" | sudo -S true",
            "echo 'deb https://example.org stable main' | sudo tee /etc/apt/sources.list.d/x.list",
            "echo {typed} | docker build -",
            "echo <password> | sudo -S true",
        ],
    ),
    of(
        "here-string-password",
        "a password that a here-string gives to such a command",
        &[
            "sudo -S apt-get update <<< {typed}",
            "docker login -u ada --password-stdin <<< '{typed}'",
        ],
        &["sudo -S true <<< \"$PW\"", "wc -l <<< {typed}"],
    ),
    of(
        "password-beside-user",
        "a password right behind the name of its user",
        &[
            "log in as user bob and pass {typed}",
            "login: ada / pw: {typed}",
            "username ada, password {typed}",
        ],
        &[
            "user bob and pass it on",
            "user input and pass validation",
            "login ada / password reset",
        ],
    ),
    of(
        "bare-pass",
        "a random text right behind `pass`, without a sign between",
        &["try it with pass {l6}4{l4}7{l2}X{l2}q", "pw {l4}9{l4}8Kq!"],
        &[
            "pass Uint8Array to it",
            "pass user_id2 and user_id3",
            "they pass 12/14 on x86_64",
            "pass --level=3 to it",
        ],
    ),
    of(
        "short-name",
        "a password of the name `pw`, or behind `pass=`",
        &["DB_PW={typed}", "connect with pw={typed}", "pass={typed}"],
        &["pw = width", "pass=12 fail=0", "pw: 100", "pass=12/14"],
    ),
    of(
        "hexadecimal-key",
        "a hexadecimal key right behind what it is called",
        &["the api key {h32} works", "private key 0x{h64}", "access token is {h40}"],
        &[
            "the public key 0x{h64}",
            "the api key of commit {h40}",
            "access key hash: {h32}",
        ],
    ),
    of(
        "assignment-below",
        "the value of such a name on the line below it, quoted or as a block of YAML",
        &[
            "password:\n  \"{typed}\"\nport: 5432",
            "db_password: |\n  {A24}\nport: 5432",
            "SECRET_KEY = \\\n    '{A40}'",
        ],
        &[
            "password:\n  \"required\"",
            "token: |\n  ${TOKEN}",
            "password:\n  type: string",
            "token: >-\n  {{ secrets.TOKEN }}",
        ],
    ),
    of(
        "table-column",
        "what stands below the head of a column of passwords, secrets, tokens or keys: in CSV, in Markdown, as databases print it",
        &[
            "user,password\nbob,{typed}\nada,{typed}",
            "| user | password |\n|------|----------|\n| bob | {typed} |",
            " id | api_key\n----+---------\n  1 | {h32}\n  2 | {A24}",
        ],
        &[
            "| field | password |\n|---|---|\n| type | string |\n| needed | yes |",
            "| token | meaning |\n|---|---|\n| PLUS2 | + |",
            "| model | max tokens |\n|---|---|\n| large | 128000 |",
            "a user, a password\nand so on, step2done",
        ],
    ),
];
