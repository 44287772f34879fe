//! Play the samples.

use super::*;

pub(super) fn sample(name: &str) -> String {
    std::fs::read_to_string(format!("{}/sample-sessions/{name}.toml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn look() {
    let name = std::env::var("WORLD").unwrap_or("night-picture".to_owned());
    let world = parse(&sample(&name)).unwrap();
    let (made, finish) = play(&world, 1).unwrap();
    for made in &made {
        let s = &made.step;
        println!("{:3} {:12} {:?} {} {:?}{} {}", s.index, s.agent, s.kind, s.to.as_deref().unwrap_or(""), s.meta.facts, if s.meta.error { " ERR" } else { "" }, s.text.replace('\n', "\n       "));
        for e in &made.effects { println!("       EFFECT {e:?}"); }
    }
    println!("{finish:?}");
}
