//! The coarse class of an edit, as AGDebugger's study coded them: says more, says less, goes another way, or none of these.
//!
//! By word diff alone, so that it is the same in every language and live while typing. It describes wording, not worth.

use super::align::matches;
use super::words::words;
use super::{Category, EditClass};

/// Classifies an edit from both texts and its category.
#[must_use]
pub fn edit_class(original: &str, edited: &str, category: Category) -> EditClass {
    let (before, after) = (words(original), words(edited));
    let kept = matches(&before, &after);
    let removed = before.len() - kept.len();
    let added = after.len() - kept.len();
    // "Mostly": at most a fifth of the text that is said to be kept may be gone.
    let says_more = added > removed && removed * 5 <= before.len();
    let says_less = removed > added && added * 5 <= after.len();
    let another_opening = kept.first().is_none_or(|(i, j)| *i > 0 && *j > 0);
    let another_action = kept.len() * 2 < before.len() || another_opening;
    if added + removed == 0 {
        EditClass::Other
    } else if says_more {
        EditClass::AddDetail
    } else if says_less {
        EditClass::Simplify
    } else if category == Category::Plan || category == Category::Instruction && another_action {
        EditClass::ChangePlan
    } else {
        EditClass::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Category::{Instruction, Message, Plan};
    use EditClass::{AddDetail, ChangePlan, Other, Simplify};

    #[test]
    fn classes_by_word_diff() {
        let table = [
            (
                "Find the picture of August.",
                "Find the picture of August. Open the page /2015/08 and read the caption.",
                Instruction,
                AddDetail,
            ),
            (
                "Find the picture, then read the caption, the author and the date.",
                "Find the picture, then read the caption.",
                Instruction,
                Simplify,
            ),
            (
                "Click the control '2015'",
                "Open /archive/august.html",
                Instruction,
                ChangePlan,
            ),
            (
                "Click the control August now please",
                "Open the control August now please",
                Instruction,
                ChangePlan,
            ),
            (
                "Read the first caption on the page",
                "Read the second caption on the page",
                Instruction,
                Other,
            ),
            (
                "1. Open the archive\n2. Scroll to August",
                "1. Open the archive\n2. Search for August",
                Plan,
                ChangePlan,
            ),
            (
                "1. Open the archive",
                "1. Open the archive\n2. Read the caption",
                Plan,
                AddDetail,
            ),
            ("It is 5 times 3", "Multiply both sides", Message, Other),
            ("Same, words.", "same words", Instruction, Other),
            ("", "Say something", Message, AddDetail),
            ("Say something", "", Message, Simplify),
            (
                "打开存档页面",
                "打开存档页面,然后阅读八月的图片说明",
                Instruction,
                AddDetail,
            ),
            (
                "打开存档页面,然后阅读八月的图片说明",
                "打开存档页面",
                Instruction,
                Simplify,
            ),
            ("点击按钮", "阅读第二页的说明文字", Instruction, ChangePlan),
        ];
        for (original, edited, category, class) in table {
            assert_eq!(
                edit_class(original, edited, category),
                class,
                "{original} -> {edited}"
            );
        }
    }
}
