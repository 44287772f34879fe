//! The tools by themselves: what is refused, what is capped, what is ended.

use std::time::{Duration, Instant};

use super::*;

fn call(tool: Tool, arguments: &Value) -> Call {
    Call::new("1".into(), tool.name().into(), arguments.to_string())
}

fn kit(words: &[&str], dir: Option<&std::path::Path>) -> Kit {
    let mut allowed = Allowed::default();
    for word in words {
        allowed.allow(word).unwrap();
    }
    Kit::new(allowed, dir.map(Into::into), Duration::from_secs(5))
}

#[test]
fn a_name_says_which_tools_fit() {
    let dir = tempfile::tempdir().unwrap();
    let all = kit(&["exec", "fetch=example.org"], Some(dir.path()));
    assert_eq!(all.offered("WebSurfer"), [Fetch]);
    assert_eq!(all.offered("FileSurfer"), [List, Read]);
    assert!(all.offered("Computer_terminal").contains(&Shell));
    assert_eq!(all.offered("Verification_Expert"), Tool::ALL);
    assert_eq!(kit(&[], None).offered("Verification_Expert"), []);
    assert_eq!(kit(&[], Some(dir.path())).offered("X"), [List, Read, Write]);
}

#[test]
fn words_that_allow_nothing_are_refused() {
    for word in [
        "",
        "all",
        "fetch",
        "fetch=",
        "fetch=http://a",
        "fetch=*",
        "exec=1",
    ] {
        assert!(Allowed::default().allow(word).is_err(), "{word}");
    }
}

#[tokio::test]
async fn what_is_not_allowed_is_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let none = kit(&[], Some(dir.path()));
    let told = none
        .perform(&call(Shell, &json!({"command": "true"})))
        .await;
    assert!(
        told.failed && told.text.contains("--allow exec"),
        "{told:?}"
    );
    let told = none
        .perform(&call(Fetch, &json!({"url": "http://example.org"})))
        .await;
    assert!(
        told.failed && told.text.contains("--allow fetch"),
        "{told:?}"
    );
    let one = kit(&["fetch=example.org"], None);
    for (url, why) in [
        ("http://127.0.0.1:9/", "not allowed"),
        ("http://example.org.evil.net/", "not allowed"),
        ("http://example.org@evil.net/", "not allowed"),
        ("file:///etc/passwd", "only http"),
        ("nonsense", "no address"),
    ] {
        let told = one.perform(&call(Fetch, &json!({"url": url}))).await;
        assert!(told.failed && told.text.contains(why), "{url}: {told:?}");
    }
    let told = kit(&["exec"], None)
        .perform(&call(Python, &json!({"code": "1"})))
        .await;
    assert!(told.text.contains("no workspace"), "{told:?}");
}

#[test]
fn private_addresses_are_told_from_public_ones() {
    for private in [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "::1",
        "fc00::1",
        "::ffff:10.0.0.1",
    ] {
        assert!(!fetch::public(private.parse().unwrap()), "{private}");
    }
    for public in ["93.184.216.34", "2606:2800:220:1::1"] {
        assert!(fetch::public(public.parse().unwrap()), "{public}");
    }
}

#[tokio::test]
async fn files_stay_inside() {
    let dir = tempfile::tempdir().unwrap();
    let kit = kit(&[], Some(dir.path()));
    let wrote = kit
        .perform(&call(Write, &json!({"path": "a/b.txt", "content": "x y"})))
        .await;
    assert!(!wrote.failed, "{wrote:?}");
    assert_eq!(kit.perform(&call(List, &json!({}))).await.text, "a/b.txt");
    assert_eq!(
        kit.perform(&call(Read, &json!({"path": "a/b.txt"})))
            .await
            .text,
        "x y"
    );
    for path in ["../x", "/etc/passwd", "none", "a"] {
        assert!(
            kit.perform(&call(Read, &json!({"path": path})))
                .await
                .failed,
            "{path}"
        );
    }
    let odd = Call::new("1".into(), Read.name().into(), "{half".into());
    assert!(kit.perform(&odd).await.text.contains("no JSON"));
}

#[cfg(unix)]
#[tokio::test]
async fn programs_are_run_capped_and_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut kit = kit(&["exec"], Some(dir.path()));
    let shell = |command: &str| call(Shell, &json!({"command": command}));
    let ran = kit.perform(&shell("echo 6 > f; cat f; echo w >&2")).await;
    assert_eq!((ran.text.as_str(), ran.failed), ("6\n\n[stderr]\nw", false));
    let ran = kit.perform(&shell("exit 3")).await;
    assert!(ran.failed && ran.text.contains("status 3"), "{ran:?}");
    let ran = kit.perform(&shell("yes")).await;
    assert!(ran.failed && ran.text.contains("printed more than"));
    assert!(ran.text.contains("left out"));
    // A child in the background holds the pipe: the group is ended with it.
    kit.limit = Duration::from_millis(300);
    let began = Instant::now();
    let ran = kit
        .perform(&shell("echo begun; sleep 600 & echo $! > pid; wait"))
        .await;
    assert!(ran.failed && ran.text.contains("did not end") && ran.text.contains("begun"));
    assert!(began.elapsed() < Duration::from_secs(20));
    let ran = kit.perform(&shell("env")).await;
    assert!(!ran.text.contains("CARGO"), "{ran:?}");
}
