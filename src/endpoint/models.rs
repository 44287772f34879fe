//! Which models an endpoint says it has: the one question that costs nothing.

use http::header;
use serde::Deserialize;

use super::fault::Fault;
use super::{Endpoint, wire};

/// The longest list that is read, in bytes.
const LONGEST: usize = 4 << 20;

#[derive(Deserialize)]
struct List {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
}

impl Endpoint {
    /// The name of the model that is asked.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The models that the endpoint lists; none if it answers but has no such list.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    pub async fn models(&self) -> Result<Option<Vec<String>>, Fault> {
        let mut request = self.wire.http.get(format!("{}/models", self.base_url));
        if let Some(key) = &self.wire.authorization {
            request = request.header(header::AUTHORIZATION, key.clone());
        }
        let idle = self.wire.idle;
        let response = request
            .send()
            .await
            .map_err(|error| wire::fault_of(&error, idle))?;
        if matches!(response.status().as_u16(), 404 | 405 | 501) {
            return Ok(None);
        }
        if !response.status().is_success() {
            return Err(wire::refusal(response).await);
        }
        let text = wire::text(response)
            .await
            .map_err(|error| wire::fault_of(&error, idle))?;
        let list = Some(text).filter(|text| text.len() <= LONGEST);
        let list = list.and_then(|text| serde_json::from_str::<List>(&text).ok());
        Ok(list.map(|list| list.data.into_iter().map(|entry| entry.id).collect()))
    }
}
