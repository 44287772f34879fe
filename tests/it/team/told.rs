//! What the runtime says of itself and of what is missing, without a word of the key.

use super::*;

#[tokio::test]
async fn what_is_missing_is_named() {
    let url = "http://127.0.0.1:9/v1";
    let cases = [
        (None, Some("m"), None, "OPENAI_BASE_URL"),
        (Some(" "), Some("m"), None, "OPENAI_BASE_URL"),
        (Some("127.0.0.1:9"), Some("m"), None, "OPENAI_BASE_URL"),
        (Some(url), None, None, "OPENAI_MODEL"),
        (Some(url), Some("m"), Some("a\nb"), "OPENAI_API_KEY"),
    ];
    for (base_url, model, api_key, named) in cases {
        let team = Team::new(TeamSettings {
            endpoint: EndpointSettings {
                base_url: base_url.map(str::to_owned),
                model: model.map(str::to_owned),
                api_key: api_key.map(str::to_owned),
                ..EndpointSettings::default()
            },
            ..TeamSettings::default()
        });
        for result in [
            team.ready(),
            team.restore(fork(log(), 6, None)).await.map(drop),
        ] {
            let error = result.unwrap_err();
            assert!(matches!(error, RuntimeError::Missing { .. }), "{error:?}");
            assert!(error.to_string().contains(named), "{error}");
        }
    }
}

#[tokio::test]
async fn it_says_what_it_is_and_never_the_key() {
    let team = Team::new(settings("http://127.0.0.1:9/v1/", "good"));
    let (mut session, steps) = log();
    let said = team.describe(&session);
    assert!(!said.exact && said.local_fixtures);
    assert!(
        said.detail.contains("good at http://127.0.0.1:9/v1;"),
        "{}",
        said.detail
    );
    assert!(!format!("{team:?} {said:?}").contains(KEY));

    session.profile.required_keys = vec!["browser".to_owned()];
    let run = team
        .restore(fork((session.clone(), steps), 6, None))
        .await
        .unwrap();
    assert_eq!(run.config(), said.config);
    let keys = run.keys();
    let names: Vec<&str> = keys.iter().map(|key| key.key.as_str()).collect();
    assert_eq!(names, ["agent_memory", "browser"]);
    assert_eq!(keys[0].test, "transcript re-seeded");
    assert!(keys.iter().all(|key| key.fingerprint.is_none()));

    let other = Team::new(settings("http://127.0.0.1:9/v1", "better"));
    assert_ne!(other.describe(&session).config, said.config);
    session.agents[2].system_prompt = Some("You are new.".to_owned());
    assert_ne!(team.describe(&session).config, said.config);
}
