//! A page as text, from a host of the allow list alone, however it is redirected. An address of this machine or of a private network is
//! reached only where it is listed as it stands; a listed name that leads to one is refused.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use reqwest::{Response, Url, header, redirect};

use super::Allowed;

/// The most redirects that are followed.
const HOPS: usize = 5;
/// The most bytes of a page that are read.
const MOST: usize = 2 << 20;
/// The width of the text, in columns.
const WIDTH: usize = 120;

/// Reads a page within the time limit.
pub(super) async fn page(url: &str, allowed: &Allowed, limit: Duration) -> Result<String, String> {
    match tokio::time::timeout(limit, read(url, allowed)).await {
        Ok(read) => read,
        Err(_) => Err(format!(
            "the page did not come within {} s",
            limit.as_secs_f32()
        )),
    }
}

async fn read(url: &str, allowed: &Allowed) -> Result<String, String> {
    let mut url =
        Url::parse(url.trim()).map_err(|error| format!("'{url}' is no address: {error}"))?;
    for _ in 0..=HOPS {
        let response = ask(&url, allowed).await?;
        let status = response.status();
        if !status.is_redirection() {
            if !status.is_success() {
                return Err(format!("the page answered {status}"));
            }
            return text(response).await;
        }
        let to = response.headers().get(header::LOCATION);
        let to = to.and_then(|to| to.to_str().ok());
        let to =
            to.ok_or_else(|| format!("the page answered {status} and does not say where to"))?;
        url = url
            .join(to)
            .map_err(|error| format!("the page leads to no address: {error}"))?;
    }
    Err(format!("the page leads on more than {HOPS} times"))
}

async fn ask(url: &Url, allowed: &Allowed) -> Result<Response, String> {
    let (host, addresses) = checked(url, allowed).await?;
    // The addresses that were looked at are the ones that are reached.
    let http = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .resolve_to_addrs(&host, &addresses)
        .user_agent(concat!("dover/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("the page cannot be asked for: {error}"))?;
    let asked = http.get(url.clone()).send().await;
    asked.map_err(|error| format!("the page cannot be reached: {}", error.without_url()))
}

/// The host of an address that may be read, and where it is.
async fn checked(url: &Url, allowed: &Allowed) -> Result<(String, Vec<SocketAddr>), String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!(
            "{}: is no web page; only http and https are read",
            url.scheme()
        ));
    }
    let host = url.host_str().unwrap_or_default().to_lowercase();
    let port = url.port_or_known_default().unwrap_or(80);
    let listed = |name: &str| allowed.hosts.contains(name);
    if !listed(&host) && !listed(&format!("{host}:{port}")) {
        let list: Vec<&str> = allowed.hosts.iter().map(String::as_str).collect();
        return Err(format!(
            "{host} is not allowed in this run. Allowed: {}",
            list.join(", ")
        ));
    }
    let bare = host.trim_matches(['[', ']']);
    let found = tokio::net::lookup_host((bare, port)).await;
    let addresses: Vec<SocketAddr> = found
        .map_err(|error| format!("{host} is not known: {error}"))?
        .collect();
    let as_it_stands = bare == "localhost" || bare.parse::<IpAddr>().is_ok();
    if !as_it_stands && addresses.iter().any(|address| !public(address.ip())) {
        return Err(format!(
            "{host} leads into a private network, which is not allowed"
        ));
    }
    Ok((host, addresses))
}

/// Whether an address is one of the public network.
pub(super) fn public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            let shared = a == 100 && (64..128).contains(&b);
            !(v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_multicast()
                || v4.is_broadcast()
                || a == 0
                || shared)
        }
        IpAddr::V6(v6) => {
            if let Some(v4) = v6.to_ipv4() {
                return public(IpAddr::V4(v4));
            }
            !(v6.is_multicast() || v6.is_unique_local() || v6.is_unicast_link_local())
        }
    }
}

/// The page's text.
async fn text(mut response: Response) -> Result<String, String> {
    let kind = response.headers().get(header::CONTENT_TYPE);
    let kind = kind
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or("text/html");
    let kind = kind.to_lowercase();
    let html = kind.contains("html");
    if !html && !["text/", "json", "xml"].iter().any(|it| kind.contains(it)) {
        return Err(format!("the page is {kind}, which is no text"));
    }
    let mut bytes = Vec::new();
    let mut cut = false;
    while let Some(piece) = response
        .chunk()
        .await
        .map_err(|error| format!("the page broke off: {}", error.without_url()))?
    {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MOST {
            bytes.truncate(MOST);
            cut = true;
            break;
        }
    }
    let mut text = if html {
        tokio::task::spawn_blocking(move || html2text::from_read(bytes.as_slice(), WIDTH))
            .await
            .map_err(|_| "the page cannot be read".to_owned())?
            .map_err(|error| format!("the page cannot be read: {error}"))?
    } else {
        String::from_utf8_lossy(&bytes).into_owned()
    };
    if cut {
        text.push_str("\n[the page is longer than what is read of one]");
    }
    Ok(text)
}
