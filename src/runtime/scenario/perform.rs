//! What acts come to: the browser moves, pages are shown and read, and the agent tells of it.

use std::collections::BTreeMap;

use super::arithmetic;
use super::engine::{Engine, learn, meta};
use super::state::{Act, State};
use super::world::Page;
use crate::model::StepMeta;

/// What came of an act.
pub(super) struct Done {
    pub text: String,
    pub meta: StepMeta,
    /// Whether it did what was asked.
    pub reached: bool,
}

impl Done {
    fn well(text: String) -> Self {
        Self {
            text,
            meta: StepMeta::default(),
            reached: true,
        }
    }

    fn failed(text: String) -> Self {
        Self {
            text,
            meta: StepMeta {
                error: true,
                ..StepMeta::default()
            },
            reached: false,
        }
    }
}

impl Engine {
    pub(super) fn perform(&self, act: &Act, told: &str, state: &mut State) -> Done {
        match act {
            Act::Open { address } => self.arrive(address, "I opened", told, state),
            Act::Press { name, address } => self.arrive(
                address,
                &format!("I pressed '{name}'. This is"),
                told,
                state,
            ),
            Act::Missing { name } => Done::failed(format!(
                "There is no control named '{name}' on this page.{}",
                self.controls(state)
            )),
            Act::NoSuchAddress { address } => {
                Done::failed(format!("The address {address} leads nowhere (404)."))
            }
            Act::Back => match state.browser.history.pop() {
                Some(address) => {
                    let done = self.arrive(&address, "I went back to", told, state);
                    state.browser.history.pop();
                    done
                }
                None => Done::failed("There is no page to go back to.".to_owned()),
            },
            Act::Scroll { to } => self.scroll(*to, told, state),
            Act::Search { query, hits, first } => self.search(query, hits, *first, told, state),
            Act::Read { fact } => self.read_page(fact.as_deref(), told, state),
            Act::Guess { fact } => {
                let Some(fact) = self.core.world.fact(fact) else {
                    return Done::failed(String::new());
                };
                let value = state.value_or_guess(fact);
                let unsure = if state.memory.beliefs.contains_key(&fact.id) {
                    "As far as we know"
                } else {
                    "From what I remember"
                };
                Done::well(format!("{unsure}, {} is {value}.", fact.about))
            }
            Act::Compute { expression } => match arithmetic::evaluate(expression) {
                Some(value) => Done::well(format!("{expression} = {}", arithmetic::shown(value))),
                None => Done::failed(format!("{expression} cannot be worked out.")),
            },
            Act::Say { text } => Done {
                reached: false,
                ..Done::well(text.clone())
            },
            Act::Call { .. } => Done::well(String::new()),
        }
    }

    fn page<'a>(&'a self, state: &State) -> Option<&'a Page> {
        self.core.world.page(state.browser.address.as_deref()?)
    }

    fn controls(&self, state: &State) -> String {
        let names: Vec<String> = match self.page(state) {
            Some(page) => page
                .link
                .iter()
                .filter(|l| l.screen == state.browser.screen)
                .map(|l| format!("'{}'", l.name))
                .collect(),
            None => state
                .browser
                .results
                .iter()
                .filter_map(|a| self.core.world.page(a))
                .map(|p| format!("'{}'", p.title))
                .collect(),
        };
        if names.is_empty() {
            String::new()
        } else {
            format!(" Controls shown: {}.", names.join(", "))
        }
    }

    /// What the viewport shows, quoted.
    fn view(&self, page: &Page, state: &State) -> String {
        let screen = state.browser.screen;
        let text = page
            .text
            .get(screen)
            .map_or("(more of the same)", |text| text.trim());
        let quoted: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
        let place = if page.length() > 1 {
            format!(" Screen {} of {}.", screen + 1, page.length())
        } else {
            String::new()
        };
        format!("{place}{}\n\n{}", self.controls(state), quoted.join("\n"))
    }

    fn arrive(&self, address: &str, how: &str, told: &str, state: &mut State) -> Done {
        let Some(page) = self.core.world.page(address) else {
            return Done::failed(format!("The address {address} leads nowhere (404)."));
        };
        let browser = &mut state.browser;
        browser.history.extend(browser.address.take());
        browser.address = Some(page.address.clone());
        browser.screen = 0;
        browser.results.clear();
        if !browser.visited.contains(&page.address) {
            browser.visited.push(page.address.clone());
            state.memory.progress = true;
        }
        let shown = page.states.iter().filter(|s| s.screen == 0);
        let facts = learn(state, &self.core, told, &BTreeMap::new(), shown);
        let text = format!(
            "{how} [{}]({}).{}",
            page.title,
            page.address,
            self.view(page, state)
        );
        Done {
            meta: StepMeta {
                pages: vec![page.address.clone()],
                ..meta(facts)
            },
            ..Done::well(text)
        }
    }

    fn scroll(&self, to: Option<usize>, told: &str, state: &mut State) -> Done {
        let Some(page) = self.page(state) else {
            return Done::failed("There is nothing to scroll here.".to_owned());
        };
        let last = page.length() - 1;
        let at = state.browser.screen;
        let screen = to.unwrap_or(at + 1).min(last);
        if screen == at && at == last && to.is_none() {
            return Done::failed(format!(
                "This is the end of [{}]({}) already.",
                page.title, page.address
            ));
        }
        state.browser.screen = screen;
        let facts = learn(
            state,
            &self.core,
            told,
            &BTreeMap::new(),
            page.states.iter().filter(|s| s.screen == screen),
        );
        let how = if to.is_some() {
            "I scrolled to the place"
        } else {
            "I scrolled down one screen"
        };
        let text = format!(
            "{how} on [{}]({}).{}",
            page.title,
            page.address,
            self.view(page, state)
        );
        Done {
            meta: meta(facts),
            ..Done::well(text)
        }
    }

    fn search(
        &self,
        query: &str,
        hits: &[String],
        stands_out: bool,
        told: &str,
        state: &mut State,
    ) -> Done {
        let pages: Vec<&Page> = hits
            .iter()
            .filter_map(|a| self.core.world.page(a))
            .collect();
        let list = |pages: &[&Page]| {
            let shown = pages
                .iter()
                .map(|p| format!("'{}' ({})", p.title, p.address));
            shown.collect::<Vec<_>>().join(", ")
        };
        match pages.as_slice() {
            [] => Done::failed(format!("I searched for \"{query}\". Nothing fits.")),
            [page] => {
                let how = format!("I searched for \"{query}\" and opened the only result,");
                self.arrive(&page.address, &how, told, state)
            }
            [first, others @ ..] if stands_out => {
                let others = list(others);
                let how = format!(
                    "I searched for \"{query}\". Other results: {others}. I opened the first,"
                );
                self.arrive(&first.address, &how, told, state)
            }
            _ => {
                let browser = &mut state.browser;
                browser.history.extend(browser.address.take());
                browser.screen = 0;
                browser.results = hits.to_vec();
                Done::well(format!(
                    "I searched for \"{query}\". None of the results stands out: {}.",
                    list(&pages)
                ))
            }
        }
    }

    fn read_page(&self, fact: Option<&str>, told: &str, state: &mut State) -> Done {
        let Some(page) = self.page(state) else {
            return Done::failed("There is no page to read.".to_owned());
        };
        let facts = learn(state, &self.core, told, &BTreeMap::new(), &page.states);
        let wanted = fact.and_then(|id| self.core.world.fact(id));
        let stated = |id: &str| page.states.iter().any(|s| s.fact == id);
        let belief = wanted
            .and_then(|f| state.memory.beliefs.get(&f.id))
            .filter(|b| b.seen);
        match (wanted, belief) {
            (Some(fact), Some(belief)) if stated(&fact.id) => {
                let text = format!(
                    "I went through [{}]({}): {} is {}.",
                    page.title, page.address, fact.about, belief.value
                );
                Done {
                    meta: StepMeta {
                        pages: vec![page.address.clone()],
                        ..meta(facts)
                    },
                    ..Done::well(text)
                }
            }
            (Some(fact), Some(belief)) => Done::well(format!(
                "As we know already, {} is {}.",
                fact.about, belief.value
            )),
            (Some(fact), None) => {
                let why = if stated(&fact.id) {
                    "It may, but I do not know what to look for yet."
                } else {
                    "Nothing there says it."
                };
                let text = format!(
                    "I went through [{}]({}) for {}. {why}",
                    page.title, page.address, fact.about
                );
                Done {
                    meta: meta(facts),
                    reached: false,
                    ..Done::well(text)
                }
            }
            (None, _) => {
                let quoted: Vec<String> = page
                    .text
                    .iter()
                    .flat_map(|t| t.trim().lines())
                    .map(|l| format!("> {l}"))
                    .collect();
                let text = format!(
                    "This is what [{}]({}) says:\n\n{}",
                    page.title,
                    page.address,
                    quoted.join("\n")
                );
                Done {
                    meta: StepMeta {
                        pages: vec![page.address.clone()],
                        ..meta(facts)
                    },
                    ..Done::well(text)
                }
            }
        }
    }
}
