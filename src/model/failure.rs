//! Steps that report a failure, in whatever log they stand: by what the framework recorded, and by how tools, code and agents begin to
//! say that something went wrong.
//!
//! Only the beginning counts: a page that tells of errors is no failure. What a step says about an *earlier* failure, and what a plan or a
//! ledger thinks of the course, is none either.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{Step, StepKind};

/// So many bytes of a text are looked at.
const BEGINNING: usize = 2000;
/// JSON up to so many bytes is read.
const JSON: usize = 64 * 1024;

/// How the output of code or of a tool says it.
static OUTPUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?im)^\s*(?:exitcode: [1-9]|traceback \(most recent|error:|fatal:|[\w.]*(?:error|exception):)|\A\s*(?:error\b|permission denied|[^\n]{1,120}: (?:command not found|no such file or directory|permission denied)\s*$)|\A[^{]{0,200}\bexit(?: code|ed with)[: ]+[1-9]",
    )
    .ok()
});

/// How an agent says it of itself.
static AGENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\A\s*(?:(?:\w+ ){0,3}encountered an error|error\b[:! ]|error processing|i(?:['’]m| am| was) (?:currently |still )?(?:not able|unable) to|i (?:cannot|can['’]t|could not|couldn['’]t) |(?:i['’]m |i am |we are |we['’]re )?(?:very |so )?sorry\b|unfortunately\b|抱歉|很抱歉|对不起|我无法|我不能|无法|错误[：:]|出错|address: [^\n]*\s+title: error\b)|\A[^\n]{0,400}\n*[^\n]{0,400}\(chrome-error://",
    )
    .ok()
});

fn says(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    let beginning = text.get(..text.floor_char_boundary(BEGINNING));
    pattern
        .as_ref()
        .is_some_and(|regex| regex.is_match(beginning.unwrap_or(text)))
}

/// Whether a step reports a failure. Costs its first 2,000 bytes, of a tool's result in JSON up to 64 KiB.
#[must_use]
pub fn reports_failure(step: &Step) -> bool {
    if step.meta.error || step.meta.tool.as_ref().is_some_and(|tool| tool.failed) {
        return true;
    }
    let text = step.text.as_str();
    if text.trim_start().starts_with("exitcode: 0") {
        return false;
    }
    match step.kind {
        StepKind::ToolResult => says(&OUTPUT, text) || tells_error(text),
        StepKind::Message if text.trim_start().starts_with("exitcode:") => says(&OUTPUT, text),
        StepKind::Message => says(&AGENT, text),
        _ => false,
    }
}

/// Whether a result in JSON names an error, or says that it has not succeeded.
fn tells_error(text: &str) -> bool {
    let text = text.trim();
    if !text.starts_with('{') || text.len() > JSON {
        return false;
    }
    let Ok(Value::Object(told)) = serde_json::from_str::<Value>(text) else {
        return false;
    };
    let is = |key: &str, value: bool| told.get(key) == Some(&Value::Bool(value));
    let error = match told.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    };
    let status = told.get("status").and_then(Value::as_str);
    error
        || is("success", false)
        || is("ok", false)
        || is("isError", true)
        || is("is_error", true)
        || status.is_some_and(|status| matches!(status, "error" | "failed" | "failure"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(kind: StepKind, text: &str) -> Step {
        Step {
            kind,
            text: text.into(),
            ..Step::default()
        }
    }

    #[test]
    fn results_of_tools_and_code() {
        let failed = [
            "exitcode: 1 (execution failed)\nCode output: Traceback (most recent call last):",
            "Traceback (most recent call last):\n  File \"a.py\", line 1",
            "Error: user not found",
            "error 404",
            "ValueError: no such day",
            "requests.exceptions.HTTPError: 503",
            "Code output:\nKeyError: 'slots'",
            "fatal: not a git repository",
            "bash: foo: command not found",
            "cat: a.txt: No such file or directory",
            "Permission denied",
            r#"{"error": "timeout"}"#,
            r#"{"success": false, "rows": []}"#,
            r#"{"status": "failed"}"#,
            "Process exited with 2",
        ];
        for text in failed {
            assert!(reports_failure(&step(StepKind::ToolResult, text)), "{text}");
        }
        let fine = [
            "exitcode: 0 (execution succeeded)\nCode output: 18",
            "exitcode: 0 (execution succeeded)\nerror: 3 rows left out",
            r#"{"error": null, "rows": 3}"#,
            r#"{"error": "", "ok": true}"#,
            "No errors were found.",
            "The error rate is 3%.",
            "The article says that Error: Unknown is a film.",
            "",
        ];
        for text in fine {
            assert!(
                !reports_failure(&step(StepKind::ToolResult, text)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_an_agent_says_of_itself() {
        let failed = [
            "exitcode: 1 (execution failed)",
            "File surfer encountered an error decoding JSON arguments",
            "I am not able to do this ('look up').",
            "I'm currently unable to access the paper directly.",
            "Sorry, the page does not open.",
            "Unfortunately, I cannot complete the task.",
            "Address: file:///a.pdf\nTitle: Error 404\nViewport position: page 1",
            "I clicked 'Ensembl'.\n\nHere is a screenshot of [www](chrome-error://chromewebdata/).",
            "抱歉，我找不到这个文件。",
        ];
        for text in failed {
            assert!(reports_failure(&step(StepKind::Message, text)), "{text}");
        }
        let fine = [
            "exitcode: 0 (execution succeeded)\nCode output: Error: is a word",
            "It seems there was an error in the code before.",
            "The error has been resolved.",
            "I clicked 'Errors'.",
        ];
        for text in fine {
            assert!(!reports_failure(&step(StepKind::Message, text)), "{text}");
        }
    }

    #[test]
    fn plans_and_ledgers_report_none() {
        for kind in [StepKind::Plan, StepKind::Ledger, StepKind::Instruction] {
            assert!(!reports_failure(&step(kind, "Error: I cannot go on")));
        }
    }
}
