//! Workers' tools within a run: steps, effects, the operator's decisions, what stays in the world; the dialogue's executor.

use super::*;
use dover::model::{Effect, EffectState};
use dover::runtime::team::Allowed;

const ORDER: &str = "Run `echo hummingbird` and tell.";

fn allowing(base_url: &str, words: &[&str]) -> TeamSettings {
    let mut allowed = Allowed::default();
    for word in words {
        allowed.allow(word).unwrap();
    }
    TeamSettings {
        allowed,
        ..settings(base_url, "good")
    }
}

/// A run with a workspace, forked at the vague instruction.
async fn work(words: &[&str], edit: &str, decision: Decision, kept: Vec<Effect>) -> Played {
    let server = ModelServer::start(0).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("diary.txt"), "The schooner Wagtail passed.").unwrap();
    let mut restore = fork(log(), 6, Some(edit));
    restore.workspace = Some(dir.path().to_owned());
    restore.kept = kept;
    let team = Team::new(allowing(&server.base_url(), words));
    let mut run = team.restore(restore).await.unwrap();
    play_deciding(&mut run, decision).await
}

fn result(played: &Played) -> &Step {
    let found = played
        .steps
        .iter()
        .find(|step| step.kind == StepKind::ToolResult);
    found.unwrap_or_else(|| panic!("no tool was used: {:?}", played.steps))
}

#[tokio::test]
async fn a_file_is_read_and_changes_the_outcome() {
    let played = work(
        &[],
        "Read diary.txt and name the vessel.",
        Decision::Refuse,
        vec![],
    )
    .await;
    assert_eq!(played.steps[1].kind, StepKind::ToolCall);
    assert_eq!(
        played.steps[1].meta.tool.as_ref().unwrap().name,
        "read_file"
    );
    assert_eq!(result(&played).text, "The schooner Wagtail passed.");
    assert!(played.asked.is_empty(), "reading asks nobody");
    let without = work(&[], "Read something.", Decision::Refuse, vec![]).await;
    assert_ne!(played.finish, without.finish);
}

#[tokio::test]
async fn a_program_waits_for_the_operator() {
    let played = work(&["exec"], ORDER, Decision::Allow, vec![]).await;
    assert_eq!(played.asked, ["run_shell"]);
    assert_eq!(result(&played).text, "hummingbird");
    let played = work(&["exec"], ORDER, Decision::Refuse, vec![]).await;
    assert!(result(&played).text.contains("did not let it happen"));
    assert!(result(&played).meta.error && played.finish.is_some());
    // Without --allow exec the tool is not even offered, and the run goes on.
    let played = work(&[], ORDER, Decision::Allow, vec![]).await;
    assert!(played.asked.is_empty() && played.finish.is_some());
}

#[tokio::test]
async fn an_effect_that_stays_is_answered_from_the_record() {
    let server = ModelServer::start(0).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut restore = fork(log(), 6, Some(ORDER));
    restore.workspace = Some(dir.path().to_owned());
    let team = Team::new(allowing(&server.base_url(), &["exec"]));
    let mut run = team.restore(restore).await.unwrap();
    let mut effects = Vec::new();
    loop {
        match run.next().await.unwrap() {
            Event::Ask(_) => run.decide(Decision::Allow),
            Event::Step(made) => effects.extend(made.effects),
            Event::Finished(_) => break,
            Event::Delta { .. } | Event::Question { .. } | Event::Pending(_) => {}
        }
    }
    assert_eq!(effects.len(), 1);
    assert_eq!(effects[0].state, EffectState::Pending);
    effects[0].result = Some("kingfisher".to_owned());
    let played = work(&["exec"], ORDER, Decision::Refuse, effects).await;
    assert!(played.asked.is_empty());
    assert_eq!(result(&played).text, "kingfisher");
    assert!(result(&played).meta.tool.as_ref().unwrap().from_record);
}

/// Two agents, one of which runs the code of the other.
async fn sums(words: &[&str]) -> Played {
    let server = ModelServer::start(0).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let code = "Let me see:\n```python\nprint(7 * 12)\n```";
    let mut restore = fork(dialogue(), 1, Some(code));
    restore.workspace = Some(dir.path().to_owned());
    let team = Team::new(allowing(&server.base_url(), words));
    play(&mut team.restore(restore).await.unwrap()).await
}

#[tokio::test]
async fn the_executor_of_a_dialogue_runs_the_code_or_says_that_it_cannot() {
    let played = sums(&["exec"]).await;
    assert_eq!(played.asked, ["run_python"]);
    let ran = result(&played);
    assert_eq!((ran.agent.as_str(), ran.text.as_str()), ("Proxy", "84"));
    assert_eq!(played.steps[3].agent, "Solver");
    let played = sums(&[]).await;
    assert!(result(&played).text.contains("--allow exec"));
    assert!(played.asked.is_empty() && played.steps[3].agent == "Solver");
}

#[tokio::test]
async fn what_is_allowed_is_described_and_pinned() {
    let (session, _) = log();
    let at = "http://127.0.0.1:9/v1";
    let closed = Team::new(allowing(at, &[])).describe(&session);
    let open = Team::new(allowing(at, &["exec", "fetch=example.org"])).describe(&session);
    assert!(closed.local_fixtures && !open.local_fixtures);
    assert!(
        open.detail.contains("exec, fetch=example.org"),
        "{}",
        open.detail
    );
    assert_ne!(closed.config, open.config);
}

/// A web server of two pages, one of which leads to another name of this machine.
async fn pages() -> std::net::SocketAddr {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let mut socket = BufReader::new(socket);
            let mut asked = String::new();
            socket.read_line(&mut asked).await.unwrap();
            let mut line = String::from("-");
            while !line.trim().is_empty() {
                line.clear();
                socket.read_line(&mut line).await.unwrap();
            }
            let answer = if asked.contains("/away") {
                let to = format!("http://localhost:{}/", address.port());
                format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
            } else {
                let page = "<html><head><title>t</title><script>no()</script></head><body><h1>Log</h1><p>The <b>Petrel</b> passed.</p></body></html>";
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}",
                    page.len()
                )
            };
            socket.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}

#[tokio::test]
async fn a_page_is_read_as_text_and_no_redirect_leads_out_of_the_list() {
    let address = pages().await;
    let read = |path: &str| format!("Open http://{address}{path} and name the vessel.");
    let allow = format!("fetch={}", address.ip());
    let played = work(&[&allow], &read("/log"), Decision::Refuse, vec![]).await;
    let page = result(&played);
    assert!(
        page.text.contains("Petrel") && !page.text.contains('<'),
        "{}",
        page.text
    );
    assert!(!page.text.contains("no()") && played.asked.is_empty());
    let played = work(&[&allow], &read("/away"), Decision::Refuse, vec![]).await;
    let page = result(&played);
    assert!(
        page.text.contains("localhost is not allowed"),
        "{}",
        page.text
    );
    assert!(page.meta.error && played.finish.is_some());
}
