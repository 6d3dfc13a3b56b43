//! Requests to the OpenMetrics endpoint, and to the page's server.

#[path = "../../crates/espbench/src/cli/http/request.rs"]
mod request;

use request::{LONGEST_HEAD, Request, RequestHead};

/// Asserts that a request, and the octet that ends it, are the same whatever the pieces.
pub fn http_request(data: &[u8]) {
    let [step, octets @ ..] = data else { return };
    let one_by_one = read(octets, 1);
    let steps = read(octets, usize::from(*step) + 1);
    let whole = read(octets, octets.len().max(1));
    assert_eq!(request_of(&steps), request_of(&one_by_one));
    assert_eq!(request_of(&whole), request_of(&one_by_one));
    match one_by_one {
        Some((end, request)) => {
            assert!(end <= LONGEST_HEAD);
            let first = octets.split(|&c| c == b'\n').next().unwrap_or_default();
            let gets = first.starts_with(b"GET ") || first.starts_with(b"HEAD ");
            assert!(gets || !matches!(request, Request::Get { .. }));
            if let Request::Get { path, .. } = &request {
                assert!(path.starts_with('/') && !path.contains('?'));
            }
            assert!(end == LONGEST_HEAD || octets[end - 1] == b'\n');
        }
        None => assert!(octets.len() < LONGEST_HEAD),
    }
}

fn request_of(read: &Option<(usize, Request)>) -> Option<&Request> {
    read.as_ref().map(|(_, request)| request)
}

/// Returns the octets taken when the request was there, and the request.
fn read(octets: &[u8], step: usize) -> Option<(usize, Request)> {
    let (mut head, mut taken) = (RequestHead::default(), 0);
    octets.chunks(step).find_map(|piece| {
        taken += piece.len();
        head.add(piece).map(|request| (taken, request))
    })
}
