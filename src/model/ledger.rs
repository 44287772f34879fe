//! A ledger in a line: what Magentic-One's progress ledger says, for lists in which its JSON would say nothing at a glance.

use serde_json::Value;

/// The gist of a progress ledger, such as `not done · progressing · next: WebSurfer`; none if the text holds no such ledger.
/// Costs one parse of the text's first JSON object.
#[must_use]
pub fn ledger_gist(text: &str) -> Option<String> {
    let start = text.find('{')?;
    let object = text.get(start..)?;
    // Texts without these fields are not worth a parse.
    if !object.contains("is_request_satisfied") {
        return None;
    }
    let ledger: Value = serde_json::Deserializer::from_str(object)
        .into_iter()
        .next()?
        .ok()?;
    let said = |field: &str| match ledger.get(field)? {
        Value::Object(entry) => entry.get("answer").cloned(),
        plain => Some(plain.clone()),
    };
    let mut gist = vec![if said("is_request_satisfied")?.as_bool()? {
        "done"
    } else {
        "not done"
    }];
    if said("is_in_loop").and_then(|looping| looping.as_bool()) == Some(true) {
        gist.push("in a loop");
    }
    match said("is_progress_being_made").and_then(|progress| progress.as_bool()) {
        Some(true) => gist.push("progressing"),
        Some(false) => gist.push("no progress"),
        None => {}
    }
    let mut gist = gist.join(" · ");
    let next = said("next_speaker");
    if let Some(next) = next
        .as_ref()
        .and_then(Value::as_str)
        .filter(|next| !next.is_empty())
    {
        gist.push_str(" · next: ");
        gist.push_str(next);
    }
    Some(gist)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_fields_and_nothing_else() {
        let text = r#"Updated Ledger:
{"is_request_satisfied": {"reason": "r", "answer": false}, "is_in_loop": {"reason": "r", "answer": true},
 "is_progress_being_made": {"reason": "r", "answer": false}, "next_speaker": {"reason": "r", "answer": "WebSurfer"}} warning: leaked"#;
        assert_eq!(
            ledger_gist(text).as_deref(),
            Some("not done · in a loop · no progress · next: WebSurfer")
        );
        assert_eq!(
            ledger_gist(r#"{"is_request_satisfied": true, "is_progress_being_made": true}"#)
                .as_deref(),
            Some("done · progressing")
        );
        for other in [
            "",
            "no object",
            "{broken is_request_satisfied",
            r#"{"answer": 1}"#,
            r#"{"is_request_satisfied": "?"}"#,
        ] {
            assert_eq!(ledger_gist(other), None, "{other}");
        }
    }
}
