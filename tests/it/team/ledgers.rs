//! Ledgers, stalls and new plans; taking a stopped run up again; what is counted.

use super::*;

/// A fork at the task, so that everything is made anew.
fn from_the_task() -> Restore {
    fork(log(), 0, None)
}

#[tokio::test]
async fn an_orchestrator_plans_keeps_a_ledger_and_instructs() {
    use StepKind::{Answer, Instruction, Ledger, Message, Plan, Task};
    let server = ModelServer::start(0).await.unwrap();
    let played = play_on(settings(&server.base_url(), "ledger"), from_the_task()).await;
    let kinds: Vec<StepKind> = played.steps.iter().map(|step| step.kind).collect();
    let round = [Ledger, Instruction, Message];
    let expected: Vec<StepKind> = [Task, Plan]
        .into_iter()
        .chain(round)
        .chain(round)
        .chain([Ledger, Answer])
        .collect();
    assert_eq!(kinds, expected, "{:?}", played.steps);
    // The task is given, and an instruction takes no call of its own: the ledger has said it.
    let instructions = kinds.iter().filter(|kind| **kind == Instruction).count();
    assert_eq!(server.seen().len(), kinds.len() - 1 - instructions);
    for (step, streamed) in played.steps.iter().zip(&played.streamed).skip(1) {
        assert_eq!(&step.text, streamed);
    }
}

#[tokio::test]
async fn a_stall_over_the_limit_makes_a_new_plan() {
    use StepKind::{Instruction, Ledger, Message, Plan};
    let server = ModelServer::start(0).await.unwrap();
    let mut restore = fork(log(), 1, Some("Read the diary."));
    restore.max_steps = 12;
    let played = play_on(settings(&server.base_url(), "stalling"), restore).await;
    let kinds: Vec<StepKind> = played.steps.iter().map(|step| step.kind).collect();
    let stalled = [
        Plan,
        Ledger,
        Instruction,
        Message,
        Ledger,
        Instruction,
        Message,
        Ledger,
        Plan,
        Ledger,
    ];
    assert_eq!(kinds[..stalled.len()], stalled, "{kinds:?}");
}

#[tokio::test]
async fn a_run_taken_up_again_asks_only_for_what_is_missing() {
    let whole_server = ModelServer::start(0).await.unwrap();
    let whole = play_on(
        settings(&whole_server.base_url(), "ledger"),
        from_the_task(),
    )
    .await;
    let calls = whole_server.seen().len();
    assert!(whole.steps.len() > 3);
    for kept in 1..whole.steps.len() {
        let server = ModelServer::start(0).await.unwrap();
        let mut restore = from_the_task();
        restore.made = Arc::new(whole.steps[1..kept].to_vec());
        let team = Team::new(settings(&server.base_url(), "ledger"));
        let mut run = team.restore(restore).await.unwrap();
        let again = play(&mut run).await;
        assert_eq!(again.steps, whole.steps, "after {kept}");
        assert_eq!(again.finish, whole.finish);
        let asked = whole.steps[1..kept]
            .iter()
            .filter(|step| step.kind != StepKind::Instruction)
            .count();
        assert_eq!(server.seen().len(), calls - asked, "after {kept}");
        assert_eq!(run.usage().calls, (calls - asked) as u64);
    }
}

#[tokio::test]
async fn each_run_counts_its_own_calls_though_they_share_a_limit() {
    let server = ModelServer::start(0).await.unwrap();
    let settings = settings(&server.base_url(), "good");
    let team = Team::new(settings.clone());
    let mut calls = Vec::new();
    for _ in 0..2 {
        let mut run = team.restore(fork(log(), 6, Some(EDIT))).await.unwrap();
        play(&mut run).await;
        calls.push(run.usage().calls);
    }
    assert_eq!(calls[0], calls[1]);
    assert_eq!(calls.iter().sum::<u64>(), server.seen().len() as u64);
    assert_eq!(settings.endpoint.meter.used().calls, calls[0] * 2);
}
