//! The test model server as a program, for tests by hand:
//! `cargo run --example model_server -- --port 0`, then set `OPENAI_BASE_URL` to the address it prints.
//! The model's name chooses its manners; `model_server.rs` lists them.

mod model_server;

use std::io::Write;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let port = match arguments.as_slice() {
        [] => Some(0),
        [flag, port] if flag == "--port" => port.parse().ok(),
        _ => None,
    };
    let Some(port) = port else {
        eprintln!("usage: model_server [--port PORT]");
        std::process::exit(2);
    };
    let server = model_server::ModelServer::start(port).await?;
    println!("{}", server.base_url());
    std::io::stdout().flush()?;
    tokio::signal::ctrl_c().await
}
