//! What the system knows of a process: processor time and memory.

use std::fs::read_to_string;
use std::time::Duration;

/// Clock ticks of Linux are a hundredth of a second.
const TICK: Duration = Duration::from_millis(10);

/// Processor time that a process has used, in steps of 10 ms.
pub fn cpu(pid: u32) -> Duration {
    let stat = read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name may hold spaces; user and system time are the twelfth and thirteenth word after it.
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let ticks: u32 = words[11..13]
        .iter()
        .map(|n| n.parse::<u32>().unwrap())
        .sum();
    TICK * ticks
}

/// Memory in MB: what a process holds now, and the most it ever held; none once it is gone.
pub fn memory(pid: u32) -> Option<[f64; 2]> {
    let status = read_to_string(format!("/proc/{pid}/status")).ok()?;
    let of = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes / 1024.0)
    };
    Some([of("VmRSS:")?, of("VmHWM:")?])
}
