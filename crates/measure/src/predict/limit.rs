//! Bottleneck of a setting, in words: the largest share of the time, and of the loss.

use super::battery::Battery;
use super::card::LimitShare;
use super::point::PointEstimates;
use super::trial::MessageStage;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::sample::Cause;

fn share(of: &str, part: impl Into<String>, share: f64) -> LimitShare {
    LimitShare { of: of.into(), part: part.into(), share }
}

/// Returns the part that most of a device's charge goes to; of the battery's, where there is one.
pub(super) fn share_of_charge(
    point: &PointEstimates,
    battery: Option<&Battery>,
) -> Option<LimitShare> {
    let largest = point.energy.as_ref()?.largest_part(battery)?;
    Some(share("charge", largest.name, largest.share))
}

/// Returns the part that most of a message's time goes to. A queue in the application is an effect: the part behind it is
/// named.
pub(super) fn share_of_latency(point: &PointEstimates) -> Option<LimitShare> {
    let (first, part) = largest(point, &MessageStage::ALL)?;
    let latency = |name: String| share("latency", name, part);
    if first != MessageStage::Queue {
        return Some(latency(first.name().into()));
    }
    if holds(point) {
        return Some(latency("a queue behind waiting for acknowledgements".into()));
    }
    let rest = MessageStage::ALL.map(|it| if it == first { MessageStage::Air } else { it });
    let behind = largest(point, &rest).map(|it| format!("a queue behind {}", it.0.name()));
    Some(latency(behind.unwrap_or_else(|| first.name().into())))
}

/// Returns the cause of most losses.
pub(super) fn share_of_loss(point: &PointEstimates) -> Option<LimitShare> {
    let (cause, _) = point.causes.iter().max_by_key(|it| *it.1)?;
    Some(share("loss", name(*cause), cause_share(point, *cause)))
}

/// Names the stage that most of a message's time goes to, with its share. A queue in the
/// application is an effect: behind the dash stands why the node is slow.
#[must_use]
pub fn of_time(point: &PointEstimates) -> Option<String> {
    let (first, share) = largest(point, &MessageStage::ALL)?;
    let named = format!("{} {:.0} %", first.name(), 100.0 * share);
    if first != MessageStage::Queue {
        return Some(named);
    }
    if holds(point) {
        return Some(format!("{named} – behind it: waiting for acknowledgements"));
    }
    let rest: Vec<MessageStage> =
        MessageStage::ALL.into_iter().filter(|it| *it != MessageStage::Queue).collect();
    Some(match largest(point, &rest) {
        Some((behind, _)) => format!("{named} – behind it: {}", behind.name()),
        None => named,
    })
}

/// Returns whether senders are held up by waiting for acknowledgements more than by all else.
fn holds(point: &PointEstimates) -> bool {
    let all: f64 = point.stages_ms.iter().sum();
    let rest = all - point.stages_ms[MessageStage::Queue as usize];
    point.setting.acknowledged && point.held_ms > rest
}

fn largest(point: &PointEstimates, stages: &[MessageStage]) -> Option<(MessageStage, f64)> {
    let parts = stages.iter().map(|stage| (*stage, point.part(*stage)));
    parts.filter(|it| it.1 > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Names the causes by which messages were lost, the most frequent first.
#[must_use]
pub fn of_loss(point: &PointEstimates) -> Option<String> {
    let all: u64 = point.causes.values().sum();
    let mut causes: Vec<(Cause, u64)> = point.causes.iter().map(|it| (*it.0, *it.1)).collect();
    causes.sort_by_key(|it| core::cmp::Reverse(it.1));
    let worth = |count: u64| count * 100 >= all;
    let named: Vec<String> = causes
        .iter()
        .filter(|it| worth(it.1))
        .map(|(cause, count)| {
            format!("{} {:.0} %", name(*cause), 100.0 * *count as f64 / all as f64)
        })
        .collect();
    (!named.is_empty()).then(|| named.join(", "))
}

/// Returns a cause as a reader of a prediction calls it.
#[must_use]
pub fn name(cause: Cause) -> String {
    match cause {
        Cause::ApplicationQueue => "application's queue full".into(),
        Cause::NoBuffers => "driver out of buffers".into(),
        Cause::Noise => "too weak".into(),
        Cause::RetryLimit => "retry limit".into(),
        Cause::ReceiveQueue => "listener's queue full".into(),
        Cause::Unknown => "dropped by the component (same 16-bit id)".into(),
        Cause::Stopped => "still on the way at the end".into(),
        other => other.name().to_string(),
    }
}

/// Less loss than this is not what limits a setting, if nobody asked for less.
pub(super) const LITTLE: f64 = 0.001;

/// Returns a sentence on what limits a setting and what would help. `loss`: the question is about
/// loss, however little it is.
#[must_use]
pub fn advice(point: &PointEstimates, loss: bool) -> Option<String> {
    let lost = point.loss.value.unwrap_or(0.0);
    let busy = point.busy.value.unwrap_or(0.0);
    let queued = cause_share(point, Cause::ApplicationQueue) + cause_share(point, Cause::NoBuffers);
    let (stage, share) = match largest(point, &MessageStage::ALL) {
        Some((stage, share)) => (Some(stage), share),
        None => (None, 0.0),
    };
    if holds(point) && stage == Some(MessageStage::Queue) {
        return Some(
            "Messages wait behind one whose acknowledgement does not come, for up to 3 s: more \
             attempts (copies), fewer messages, or the MAC's acknowledgement (unicast) help."
                .into(),
        );
    }
    if point.grows || (lost > LITTLE && queued > 0.5) {
        let why = if busy > 0.7 {
            "the channel is full: a faster PHY rate, fewer or shorter messages help"
        } else {
            "the node is slower than its messages come: processor time, not air, is the limit"
        };
        return Some(format!("Queues overflow or still grow; {why}."));
    }
    if lost > LITTLE || (loss && lost > 0.0) {
        return loss_by(point);
    }
    let share = format!("{:.0} % of the time is", 100.0 * share);
    Some(match stage? {
        MessageStage::Air => format!(
            "{share} the frame's own airtime: only a faster PHY rate or a shorter message is faster."
        ),
        MessageStage::Medium => format!("{share} waiting for others on the channel."),
        MessageStage::Retries => format!("{share} repetitions after collisions or noise."),
        MessageStage::Queue => {
            format!("{share} the application's queue: bursts wait for each other.")
        }
        MessageStage::Start => {
            format!(
                "{share} waking, booting and starting Wi-Fi: less of that, not of radio, helps."
            )
        }
        stage @ (MessageStage::Sender | MessageStage::Receiver) => {
            format!("{share} {}: the radio is not the limit.", stage.name())
        }
    })
}

/// Returns the cause of most losses, and what would help.
fn loss_by(point: &PointEstimates) -> Option<String> {
    let (cause, _) = point.causes.iter().max_by_key(|it| *it.1)?;
    let text = match cause {
        Cause::Collision if point.setting.acknowledged => {
            "Loss is by collisions in all attempts: more of them (copies) or a faster PHY rate help."
        }
        Cause::Collision => {
            "Loss is by collisions: nobody acknowledges a broadcast, so nothing repeats it. Copies, \
             unicast, or a faster PHY rate help."
        }
        Cause::RetryLimit => {
            "Loss is by the retry limit: every attempt collided or was too weak. Less airtime a \
             message (a faster PHY rate) helps."
        }
        Cause::Noise => {
            "Loss is by distance: the signal is too weak for this PHY rate. A slower rate reaches \
             farther."
        }
        Cause::Unknown => {
            "Loss is by the component's ids of 16 bits, not on the air: it drops a message whose id \
             is that of one of the last 32 as a repetition."
        }
        other => return Some(format!("Loss is mostly by: {}.", name(*other))),
    };
    Some(text.into())
}

fn cause_share(point: &PointEstimates, cause: Cause) -> f64 {
    let all: u64 = point.causes.values().sum();
    point.causes.get(&cause).map_or(0.0, |count| *count as f64 / all.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_stats::Estimate;

    fn point(stages_ms: [f64; 7], causes: &[(Cause, u64)], loss: f64, busy: f64) -> PointEstimates {
        PointEstimates {
            stages_ms,
            causes: causes.iter().copied().collect(),
            loss: Estimate::exact(loss, 1000),
            busy: Estimate::exact(busy, 8),
            ..PointEstimates::default()
        }
    }

    #[test]
    fn the_largest_share_is_named() {
        let idle = point([0.0, 0.0, 0.1, 0.1, 0.0, 1.3, 0.1], &[], 0.0, 0.1);
        assert_eq!(of_time(&idle).as_deref(), Some("on the air 81 %"));
        assert!(
            advice(&idle, false)
                .unwrap()
                .starts_with("81 % of the time is the frame's own airtime")
        );
        assert_eq!(of_loss(&idle), None);
        let full = point(
            [80.0, 0.0, 0.1, 9.0, 2.0, 1.3, 0.1],
            &[(Cause::ApplicationQueue, 90), (Cause::RetryLimit, 10)],
            0.2,
            0.95,
        );
        assert_eq!(
            of_time(&full).as_deref(),
            Some("application's queue 86 % – behind it: waiting for the medium")
        );
        assert_eq!(
            of_loss(&full).as_deref(),
            Some("application's queue full 90 %, retry limit 10 %")
        );
        assert!(advice(&full, false).unwrap().contains("the channel is full"));
        let slow = point([80.0, 0.0, 9.0, 0.1, 0.0, 1.3, 0.1], &[(Cause::NoBuffers, 9)], 0.2, 0.2);
        assert!(advice(&slow, false).unwrap().contains("processor time"));
        let mut waits =
            point([80.0, 0.0, 9.0, 0.1, 0.0, 1.3, 0.1], &[(Cause::ApplicationQueue, 9)], 0.2, 0.9);
        (waits.setting.acknowledged, waits.held_ms) = (true, 300.0);
        assert!(advice(&waits, false).unwrap().starts_with("Messages wait behind one"));
        assert!(of_time(&waits).unwrap().ends_with("behind it: waiting for acknowledgements"));
        let few = point([0.0, 0.0, 0.1, 0.1, 0.0, 1.3, 0.1], &[(Cause::Unknown, 9)], 0.0005, 0.2);
        assert!(advice(&few, false).unwrap().contains("airtime"));
        assert!(advice(&few, true).unwrap().contains("ids of 16 bits"));
        let far = point([0.0, 0.0, 0.1, 0.1, 0.0, 1.3, 0.1], &[(Cause::Noise, 9)], 0.2, 0.2);
        assert!(advice(&far, false).unwrap().contains("distance"));
    }
}
