use axum::http::HeaderMap;
use rstest::rstest;

use super::*;

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    headers
}

fn guarded() -> (tempfile::TempDir, Guard, Token) {
    let folder = tempfile::tempdir().unwrap();
    let token = Token::new().unwrap();
    let file = TokenFile::write(&folder.path().join("state"), "7420", &token, "http://127.0.0.1:7420/").unwrap();
    (folder, Guard::new(Hosts::Port(7_420), Arc::new(file)), token)
}

#[rstest]
#[case::own("127.0.0.1:7420", true)]
#[case::by_name("localhost:7420", true)]
#[case::six("[::1]:7420", true)]
#[case::other_port("127.0.0.1:7421", false)]
#[case::no_port("127.0.0.1", false)]
#[case::elsewhere("evil.example:7420", false)]
#[case::begins_so("127.0.0.1.evil.example:7420", false)]
#[case::localhost_of_another("localhost.evil.example:7420", false)]
#[case::another_of_ours("127.0.0.2:7420", false)]
#[case::number("2130706433:7420", false)]
#[case::user("127.0.0.1:7420@evil.example", false)]
#[case::plus("127.0.0.1:+7420", false)]
#[case::too_large("127.0.0.1:72956", false)]
#[case::empty("", false)]
fn only_this_machine_is_meant(#[case] host: &str, #[case] expected: bool) {
    let (_folder, guard, _) = guarded();
    let found = guard.host(&Uri::from_static("/x"), &headers(&[("host", host)])).is_ok();
    assert_eq!(found, expected);
}

#[test]
fn a_socket_may_be_forwarded_from_any_port_of_this_machine() {
    assert!(Hosts::AnyPort.have("localhost") && Hosts::AnyPort.have("localhost:8080"));
    assert!(!Hosts::AnyPort.have("evil.example:8080"));
    assert!(Hosts::Port(80).have("localhost"));
}

#[test]
fn a_host_is_named_once_and_not_otherwise_in_the_address() {
    let (_folder, guard, _) = guarded();
    let twice = headers(&[("host", "127.0.0.1:7420"), ("host", "127.0.0.1:7420")]);
    assert_eq!(guard.host(&Uri::from_static("/"), &twice), Err(Refused::Host));
    assert_eq!(guard.host(&Uri::from_static("/"), &HeaderMap::new()), Err(Refused::Host));
    let named = headers(&[("host", "127.0.0.1:7420")]);
    let other = Uri::from_static("http://evil.example/");
    assert_eq!(guard.host(&other, &named), Err(Refused::Host));
}

#[rstest]
#[case::typed(&[("sec-fetch-site", "none")], Asker::User)]
#[case::ours(&[("sec-fetch-site", "same-origin")], Asker::Ours)]
#[case::our_form(&[("origin", "http://127.0.0.1:7420")], Asker::Ours)]
#[case::another_port(&[("sec-fetch-site", "same-site")], Asker::Other)]
#[case::another_site(&[("sec-fetch-site", "cross-site")], Asker::Other)]
#[case::another_origin(&[("origin", "http://127.0.0.1:3000")], Asker::Other)]
#[case::origin_over_tls(&[("origin", "https://127.0.0.1:7420")], Asker::Other)]
#[case::no_origin_to_tell(&[("origin", "null")], Asker::Other)]
#[case::they_disagree(&[("origin", "http://127.0.0.1:7420"), ("sec-fetch-site", "cross-site")], Asker::Other)]
#[case::they_disagree_otherwise(&[("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")], Asker::Other)]
#[case::of_tomorrow(&[("sec-fetch-site", "something")], Asker::Other)]
#[case::no_browser(&[], Asker::Unknown)]
fn who_asks_is_what_the_browser_says(#[case] pairs: &[(&str, &str)], #[case] expected: Asker) {
    assert_eq!(asker("127.0.0.1:7420", &headers(pairs)), expected);
}

#[test]
fn a_key_opens_its_own_folder_alone() {
    let (_folder, guard, token) = guarded();
    let cookie = |key: &str| headers(&[("cookie", &format!("theme=dark; {COOKIE}={key}; x=y"))]);
    let inside: Uri = format!("/{}/timeline", token.place()).parse().unwrap();
    assert!(guard.key(&inside, &cookie(&token.key_of_cookie())).is_ok());
    for wrong in [token.digits(), token.key_of_forms(), String::new(), "0".repeat(64)] {
        assert!(guard.key(&inside, &cookie(&wrong)).is_err(), "{wrong}");
    }
    assert!(guard.key(&inside, &HeaderMap::new()).is_err());
    let outside = Uri::from_static("/0123456789abcdef/timeline");
    assert!(guard.key(&outside, &cookie(&token.key_of_cookie())).is_err());
    guard.file.remove();
    assert!(
        guard.key(&inside, &cookie(&token.key_of_cookie())).is_err(),
        "the token has ended"
    );
}

#[test]
fn a_form_carries_its_own_key() {
    let token = Token::new().unwrap();
    assert_eq!(check_form(&token, &token.key_of_forms()), Ok(()));
    for wrong in ["", &token.digits(), &token.key_of_cookie()] {
        assert_eq!(check_form(&token, wrong), Err(Refused::NoFormKey));
    }
}

#[rstest]
#[case::typed(Asker::User, StatusCode::SEE_OTHER)]
#[case::no_browser(Asker::Unknown, StatusCode::SEE_OTHER)]
#[case::by_a_file(Asker::Other, StatusCode::OK)]
fn the_token_is_exchanged_for_a_cookie(#[case] asker: Asker, #[case] status: StatusCode) {
    let (_folder, guard, token) = guarded();
    let opened = open(&guard, &token.digits(), asker).unwrap();
    assert_eq!(opened.status(), status);
    let cookie = opened.headers()[header::SET_COOKIE].to_str().unwrap();
    assert!(
        cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains(&token.digits()),
        "{cookie}"
    );
    assert!(open(&guard, &token.key_of_cookie(), asker).is_err());
}

#[test]
fn the_token_is_read_of_the_address() {
    let token = |uri: &str| said_token(&uri.parse().unwrap());
    assert_eq!(token("/?token=ab"), Some("ab".to_owned()));
    assert_eq!(token("/?x=1&token=ab&token=cd"), Some("ab".to_owned()));
    assert_eq!(token("/?tokens=ab"), None);
    assert_eq!(token("/"), None);
}
