//! The test model server as a program, for tests by hand:
//! `cargo run --example model_server -- --port 0`, then set `OPENAI_BASE_URL` to the address it prints.
//! The model's name chooses its manners; `model_server.rs` lists them.

mod model_server;

use std::io::Write;
use std::time::Duration;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((port, delay)) = told(&arguments) else {
        eprintln!("usage: model_server [--port PORT] [--delay MILLISECONDS]");
        std::process::exit(2);
    };
    let server = model_server::ModelServer::thinking(port, Duration::from_millis(delay)).await?;
    println!("{}", server.base_url());
    std::io::stdout().flush()?;
    tokio::signal::ctrl_c().await
}

/// The port and the delay.
fn told(arguments: &[String]) -> Option<(u16, u64)> {
    let (mut port, mut delay) = (0, 0);
    for pair in arguments.chunks(2) {
        match pair {
            [flag, value] if flag == "--port" => port = value.parse().ok()?,
            [flag, value] if flag == "--delay" => delay = value.parse().ok()?,
            _ => return None,
        }
    }
    Some((port, delay))
}
