//! Changes of `--what-if` with the devices that they are meant for.

use crate::cli::live_lab::what_if::WhatIfAt;
use crate::user_error::UserError;
use espbench_sim::lab::live::{LiveHost, WhatIf};
use std::time::Duration;

/// Returns the number of the device of that name.
pub(super) fn device(name: &str, hosts: &[LiveHost]) -> Result<u16, UserError> {
    let number = hosts.iter().position(|it| it.hardware.is_some() && it.name == name);
    number.map(|it| it as u16).ok_or_else(|| {
        let names = hosts.iter().filter(|it| it.hardware.is_some()).map(|it| it.name.as_str());
        UserError::new(format!("there is no device `{name}`"))
            .remedy(format!("use one of {}", names.collect::<Vec<_>>().join(", ")))
    })
}

/// Returns the changes in the order of their times, each with its device.
pub(super) fn plan(
    all: &[WhatIfAt],
    hosts: &[LiveHost],
) -> Result<Vec<(Duration, Option<u16>, WhatIf)>, UserError> {
    let number = |it: &WhatIfAt| it.device.as_ref().map(|name| device(name, hosts)).transpose();
    let mut planned = Vec::new();
    for it in all {
        planned.push((it.at, number(it)?, it.what));
    }
    planned.sort_by_key(|it| it.0);
    Ok(planned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::live_lab::what_if::what_if;
    use espbench_sim::lab::live::LiveRole;

    #[test]
    fn changes_come_in_the_order_of_their_times_and_devices_are_known() {
        let host = |name: &str, hardware| LiveHost {
            name: name.into(),
            address: [10, 0, 0, 1],
            role: LiveRole::Device,
            hardware,
        };
        let hosts = [host("a", Some([0; 6])), host("b", Some([1; 6])), host("pc", None)];
        let all = ["b:loss=1%@2s", "loss=2%@1s"].map(|it| what_if(it).unwrap());
        let planned = plan(&all, &hosts).unwrap();
        let ms = Duration::from_millis;
        assert_eq!(planned[0], (ms(1000), None, WhatIf::Loss(0.02)));
        assert_eq!(planned[1], (ms(2000), Some(1), WhatIf::Loss(0.01)));
        assert!(plan(&[what_if("pc:loss=1%@2s").unwrap()], &hosts).is_err());
    }
}
