//! The code that one agent of a dialogue writes and the other runs: fenced Python in a message.

use serde_json::json;

use super::tools::Tool;
use crate::endpoint::Call;

/// The Python blocks of a message, joined; none if there is none.
pub(super) fn python(text: &str) -> Option<String> {
    let mut code = String::new();
    let mut inside = false;
    let mut closed = false;
    for line in text.lines() {
        let fence = line.trim().strip_prefix("```").map(str::trim);
        match fence {
            Some("") if inside => (inside, closed) = (false, true),
            Some(language) if !inside => {
                inside = ["python", "python3", "py"].contains(&language.to_lowercase().as_str());
            }
            _ if inside => {
                code.push_str(line);
                code.push('\n');
            }
            _ => {}
        }
    }
    (closed && !inside && !code.trim().is_empty()).then_some(code)
}

/// The call that runs it.
pub(super) fn call(code: &str) -> Call {
    let arguments = json!({ "code": code }).to_string();
    Call::new(
        "call_1".to_owned(),
        Tool::Python.name().to_owned(),
        arguments,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_whole_python_blocks_alone() {
        let cases = [
            ("Run:\n```python\nprint(1)\n```\ndone", Some("print(1)\n")),
            (
                "```py\na=1\n```\nand\n```python\nprint(a)\n```",
                Some("a=1\nprint(a)\n"),
            ),
            ("```python\nprint(1)", None),
            ("```sh\nls\n```", None),
            ("```\nprint(1)\n```", None),
            ("print(1)", None),
        ];
        for (text, expected) in cases {
            assert_eq!(python(text).as_deref(), expected, "{text:?}");
        }
    }
}
