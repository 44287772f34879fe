//! What of a team's state is the run's, and what is only this process's: ids and times that a framework makes anew each time.
//!
//! Nothing is recognised by its looks. What differs between two uninterrupted runs that say the same is no property of the run, so it is
//! not compared once a restored run has gone on. Right after a restore everything is compared.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Boundary, Walker};
use crate::runtime::RuntimeError;
use crate::runtime::adapter::Ready;

/// The second of two uninterrupted runs, to tell what each run makes anew.
pub(super) struct Again(Vec<Boundary>);

impl Again {
    /// Two runs that say the same, message by message; none where they do not, for then it is the model that differs.
    pub(super) fn of(one: &[Boundary], two: Vec<Boundary>) -> Option<Self> {
        let said = |it: &Boundary| {
            let message = &it.pending;
            let whole = (message.content.clone(), message.to.clone());
            (message.from.clone(), message.kind.clone(), whole)
        };
        let same = one.len() == two.len() && one.iter().map(said).eq(two.iter().map(said));
        same.then_some(Self(two))
    }

    /// How many values each run makes anew, at the boundary with the most.
    pub(super) fn anew(&self, one: &[Boundary]) -> usize {
        let both = one.iter().zip(&self.0);
        let counts = both.map(|(one, two)| count(part(&one.checkpoint), part(&two.checkpoint)));
        counts.max().unwrap_or(0)
    }

    /// Parts of the state that two runs make altogether otherwise, so that nothing of them is compared once a run has gone on.
    pub(super) fn lost(&self, one: &[Boundary]) -> BTreeSet<String> {
        let both = one.iter().zip(&self.0);
        both.flat_map(|(one, two)| lost(part(&one.checkpoint), part(&two.checkpoint)))
            .collect()
    }

    /// A checkpoint taken at the nth boundary without what each run makes anew.
    pub(super) fn steady(&self, one: &Boundary, n: usize, value: &Value) -> Value {
        let two = self.0.get(n).map_or(&one.checkpoint, |two| &two.checkpoint);
        steady(&one.checkpoint, two, value)
    }

    /// The same of the pending messages.
    pub(super) fn steady_queue(&self, one: &Value, n: usize, value: &Value) -> Value {
        let two = self.0.get(n).and_then(|two| two.queue.as_ref());
        steady(one, two.unwrap_or(one), value)
    }
}

impl Walker<'_> {
    /// A second uninterrupted run, to tell what the framework makes anew in each.
    pub(super) async fn once_more(&mut self, run: &[Boundary]) {
        let (holds, found) = match self.run_again().await {
            Ok(second) => match Again::of(run, second) {
                Some(again) => {
                    let anew = match again.anew(run) {
                        0 => "nothing is made anew".to_owned(),
                        1 => "1 value is made anew, as ids and times are, and is compared right after a restore only".to_owned(),
                        many => format!("{many} values are made anew, as ids and times are, and are compared right after a restore only"),
                    };
                    let lost: Vec<String> = again.lost(run).into_iter().collect();
                    self.again = Some(again);
                    let same = format!("a second run says the same; {anew}");
                    if lost.is_empty() {
                        (Some(true), same)
                    } else {
                        (None, format!("{same}; nothing is left to compare of {}", lost.join(", ")))
                    }
                }
                None => (
                    None,
                    "a second run says something else: give the team a model that answers the same each time, or what differs further on may be the model's".to_owned(),
                ),
            },
            Err(error) => (Some(false), error.to_string()),
        };
        self.found("again", None, holds, found);
    }

    async fn run_again(&self) -> Result<Vec<Boundary>, RuntimeError> {
        let Ready { mut host, .. } = self.ready().await?;
        let task = json!({"task": self.settings.task});
        let mut at = self.go(&mut host, "start", &task).await?;
        let mut slowest = Duration::ZERO;
        Ok(self.boundaries(&mut host, &mut at, &mut slowest).await?)
    }
}

fn part(checkpoint: &Value) -> &Value {
    checkpoint.get("state").unwrap_or(&Value::Null)
}

/// Parts that one of two states has not, or whose values have nothing in common.
fn lost(one: &Value, two: &Value) -> Vec<String> {
    let (Some(a), Some(b)) = (one.as_object(), two.as_object()) else {
        return vec!["state".to_owned()];
    };
    if !same_names(a, b) {
        return vec!["state".to_owned()];
    }
    let of = |entry: &Value| entry.get("value").or(entry.get("blob")).cloned();
    let gone = a.iter().filter(|(name, entry)| {
        let other = b.get(*name).and_then(of).unwrap_or_default();
        let own = of(entry).unwrap_or_default();
        steady(&own, &other, &own).is_null() && own != other
    });
    gone.map(|(name, _)| name.clone()).collect()
}

/// The value with null wherever two runs differ. What neither of them has stays, to be found.
fn steady(one: &Value, two: &Value, value: &Value) -> Value {
    match (one, two, value) {
        (a, b, value) if a == b => value.clone(),
        (Value::Object(a), Value::Object(b), Value::Object(value)) if same_names(a, b) => value
            .iter()
            .map(|(name, value)| {
                let inner = a.get(name).zip(b.get(name));
                let kept = inner.map_or(value.clone(), |(a, b)| steady(a, b, value));
                (name.clone(), kept)
            })
            .collect(),
        (Value::Array(a), Value::Array(b), Value::Array(value)) if a.len() == b.len() => value
            .iter()
            .enumerate()
            .map(|(n, value)| {
                let inner = a.get(n).zip(b.get(n));
                inner.map_or(value.clone(), |(a, b)| steady(a, b, value))
            })
            .collect(),
        _ => Value::Null,
    }
}

fn same_names(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    a.len() == b.len() && a.keys().all(|name| b.contains_key(name))
}

/// In how many places two runs differ.
fn count(one: &Value, two: &Value) -> usize {
    match (one, two) {
        (a, b) if a == b => 0,
        (Value::Object(a), Value::Object(b)) if same_names(a, b) => {
            let inner = a.iter().filter_map(|(name, a)| Some((a, b.get(name)?)));
            inner.map(|(a, b)| count(a, b)).sum()
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).map(|(a, b)| count(a, b)).sum()
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_two_runs_make_anew_is_left_out() {
        let one =
            json!({"id": "a1", "memory": [{"id": "x", "text": "one"}], "by_id": {"a1": 1}, "n": 2});
        let two =
            json!({"id": "b7", "memory": [{"id": "y", "text": "one"}], "by_id": {"b7": 1}, "n": 2});
        let blank =
            json!({"id": null, "memory": [{"id": null, "text": "one"}], "by_id": null, "n": 2});
        assert_eq!(steady(&one, &two, &one), blank);
        // A third run is the same but for those.
        let third =
            json!({"id": "c3", "memory": [{"id": "z", "text": "one"}], "by_id": {"c3": 1}, "n": 2});
        assert_eq!(steady(&one, &two, &third), blank);
        // What is lost, said otherwise or added shows all the same.
        for wrong in [
            json!({"id": "c3", "memory": [], "by_id": {}, "n": 2}),
            json!({"id": "c3", "memory": [{"id": "z", "text": "two"}], "by_id": {}, "n": 2}),
            json!({"id": "c3", "memory": [{"id": "z", "text": "one"}], "by_id": {}, "n": 2, "more": 1}),
            json!({"id": "c3", "memory": [{"id": "z", "text": "one"}], "by_id": {}, "n": 3}),
        ] {
            assert_ne!(steady(&one, &two, &wrong), blank, "{wrong}");
        }
        assert_eq!(count(&one, &two), 3);
        assert_eq!(count(&one, &one), 0);
        // What has nothing left to be compared is named.
        let state =
            |value: Value| json!({"agents/A/memory": {"value": value}, "graph": {"blob": "AAEC"}});
        assert!(lost(&state(one.clone()), &state(two)).is_empty());
        assert_eq!(lost(&state(one), &state(json!([1]))), ["agents/A/memory"]);
        assert_eq!(lost(&state(json!(1)), &json!({})), ["state"]);
    }
}
