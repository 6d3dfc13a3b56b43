//! Parts that work, fail and work again: the link, connections, names, TLS. A program that makes good by itself what fails now and
//! then is in order; what stays down, or fails again and again, is not.

use super::event::{LogEvent, SignName, WordCause};
use super::quiet::hash;

/// Time behind a failure after which it would have come again, in milliseconds.
pub(super) const PAST_MS: u64 = 300_000;

/// A line stands for so many milliseconds where no time is known.
const LINE_MS: u64 = 1000;

/// Sign of a client that the device's own server accepts.
pub(crate) const ACCEPTED: SignName = SignName("client-accepted");

/// Sign of a host that answers.
const ANSWERED: SignName = SignName("ping-answered");

/// Sign of a clock that was set by a server, whose name was found for that.
const SYNCED: SignName = SignName("clock-set");

/// Sign of a server that refuses a WebSocket.
const REFUSED: SignName = SignName("websocket-refused");

/// Parts that a connection makes good.
const OF_SERVERS: [CourseOf; 4] =
    [CourseOf::Connections, CourseOf::Names, CourseOf::Tls, CourseOf::Logins];

/// Tasks that are kept of one failure: what fails is told by each part above it.
const TASKS: usize = 6;

/// A kind of failures of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FailureKind {
    /// Of any connection.
    #[default]
    Any,
    /// Of a client of the device's own server.
    Client,
    /// Of an answer to a ping.
    Ping,
}

impl FailureKind {
    /// Returns the kind of a failure.
    const fn of(event: &LogEvent) -> Self {
        match event {
            LogEvent::ClientLeft => Self::Client,
            LogEvent::PingLost => Self::Ping,
            _ => Self::Any,
        }
    }
}

/// `WIFI_REASON_BSS_TRANSITION_DISASSOC`
pub(crate) const BSS_TRANSITION: u8 = 12;

/// So long before a log's end a failure may be why it ends, in milliseconds.
const END_MS: u64 = 60_000;

/// Failures within this time are of one moment, in milliseconds.
const MOMENT_MS: u64 = 2000;

/// A task of a program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogTask {
    /// Hash of its log tag, 0 without one.
    tag: u64,
    /// Whether its line names a broker: the client of ESP-IDF and the program have two tags for one session.
    pub(super) of_broker: bool,
}

impl LogTask {
    /// Names the task of a tag.
    pub(super) fn of(tag: &str) -> Self {
        let tag = if tag.is_empty() { 0 } else { hash(tag.bytes()) };
        Self { tag, of_broker: false }
    }
}

/// Task of each broker that refuses a client.
const BROKER: u64 = 1;

/// A place in a log, with its time where one is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPoint {
    /// Number of the line.
    pub line: u64,
    /// Time since the log's begin, in milliseconds.
    pub at_ms: Option<u64>,
}

impl LogPoint {
    /// Returns the time from another place to this one, in milliseconds: by the lines where no time has passed.
    const fn since_ms(self, before: Self) -> u64 {
        match (before.at_ms, self.at_ms) {
            (Some(from), Some(to)) if to > from => to - from,
            _ => self.line.saturating_sub(before.line) * LINE_MS,
        }
    }

    /// Returns whether what failed here and at an earlier place is one failure.
    pub(super) const fn is_same_moment(self, before: Self) -> bool {
        self.since_ms(before) <= MOMENT_MS
    }
}

/// A part that works and fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CourseOf {
    /// Link to the access point.
    Link,
    /// Connections to servers and brokers.
    Connections,
    /// Names.
    Names,
    /// TLS.
    Tls,
    /// Logins at brokers and servers.
    Logins,
    /// Beacons of the access point.
    Beacons,
    /// Frames of ESP-NOW.
    EspNow,
    /// Changes to another access point that the old one asks for.
    Roams,
}

/// Parts, in the order of [`CourseOf`].
const PARTS: usize = 8;

impl CourseOf {
    /// Returns the time that lies between so many failures that are usual, in milliseconds.
    const fn usual_ms(self, times: u64) -> u64 {
        match self {
            // Twice an access point may start anew; what comes again and again is the complaint.
            Self::Link if times <= 2 => 1_800_000,
            Self::Link => 7_200_000,
            Self::Connections | Self::Names | Self::Tls => 300_000,
            Self::Logins | Self::Beacons | Self::Roams => 300_000,
            Self::EspNow => 30_000,
        }
    }
}

/// How a part fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartCourse {
    /// Whether it ever worked.
    worked: bool,
    /// Whether that was seen, and does not only follow from a link that is back.
    reached: bool,
    /// Whether it has failed and not worked since.
    is_open: bool,
    /// Moments of failure since it last worked.
    moments: u64,
    /// Moments of failure of all.
    all: u64,
    /// Times that it failed, and worked again.
    good: u64,
    /// First failure of all.
    first: Option<LogPoint>,
    /// Last failure.
    last: LogPoint,
    /// Tasks whose failures are open, the first ones.
    tasks: [Option<u64>; TASKS],
    /// Kind of what is open.
    kind: FailureKind,
}

impl PartCourse {
    fn fails(&mut self, at: LogPoint, task: u64, kind: FailureKind) {
        if !self.is_open {
            (self.tasks, self.kind) = ([None; TASKS], kind);
        }
        if self.kind != kind {
            self.kind = FailureKind::Any;
        }
        if !self.is_of(task)
            && let Some(room) = self.tasks.iter_mut().find(|it| it.is_none())
        {
            *room = Some(task);
        }
        let is_same = self.is_open && at.is_same_moment(self.last);
        self.moments = if self.is_open { self.moments + !is_same as u64 } else { 1 };
        self.all += !is_same as u64;
        self.is_open = true;
        if self.first.is_none() {
            self.first = Some(at);
        }
        self.last = at;
    }

    const fn works(&mut self) {
        self.good += self.is_open as u64;
        self.reached = true;
        self.worked = true;
        self.is_open = false;
    }

    /// Returns whether a failure of that task is open.
    fn is_of(&self, task: u64) -> bool {
        self.tasks.contains(&Some(task))
    }

    /// Takes in that what failed works, where all of it is of a kind.
    fn works_of(&mut self, kind: FailureKind) {
        if self.is_open && self.kind == kind {
            self.works();
        }
    }

    /// Returns whether it works, and has not failed since.
    pub(super) const fn is_up(&self) -> bool {
        self.worked && !self.is_open
    }

    /// Returns whether what failed was made good, seldom enough to be usual, and long enough ago to come again if it would.
    const fn is_well(&self, part: CourseOf, now: LogPoint) -> bool {
        let Some(first) = self.first else { return false };
        // What failed once, and was not told to work again, is made good where it does not fail again.
        let times = self.good + self.is_open as u64;
        if self.is_open && (self.moments > 1 || times > 1) {
            return false;
        }
        let usual_ms = part.usual_ms(times);
        let past = if usual_ms < PAST_MS { usual_ms } else { PAST_MS };
        let rest = now.since_ms(self.last) >= past;
        rest && (times == 1 || now.since_ms(first) / times >= usual_ms)
    }
}

/// How the parts of a device fared, and the place that a log has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartCourses {
    parts: [PartCourse; PARTS],
    /// The last place.
    pub now: LogPoint,
}

impl PartCourses {
    /// Takes an event in.
    pub(super) fn take(&mut self, event: &LogEvent, line: u64, task: LogTask) {
        let at = LogPoint { line, at_ms: self.now.at_ms };
        if let Some(part) = failing(event) {
            let tag = if *event == LogEvent::BrokerRefused { BROKER } else { task.tag };
            self.parts[part as usize].fails(at, tag, FailureKind::of(event));
            // The driver asks for itself, and says where it had no answer.
            if matches!(part, CourseOf::Beacons) {
                self.parts[part as usize].works();
            }
        }
        match event {
            LogEvent::Associated | LogEvent::GotIp => {
                self.link_is_back();
                // With the link its connections are made anew.
                let connections = &mut self.parts[CourseOf::Connections as usize];
                if connections.is_open && connections.moments == 1 {
                    let reached = connections.reached;
                    connections.works();
                    connections.reached = reached;
                }
            }
            // Who comes to the device's own server shows nothing of another one.
            LogEvent::Sign(ACCEPTED) => {
                self.parts[CourseOf::Connections as usize].works_of(FailureKind::Client);
            }
            // Nor does a host that answers.
            LogEvent::Sign(ANSWERED) => {
                self.parts[CourseOf::Connections as usize].works_of(FailureKind::Ping);
            }
            LogEvent::Sign(SYNCED) if self.of(CourseOf::Names).is_of(task.tag) => {
                self.parts[CourseOf::Names as usize].works();
            }
            // What one task of a program reaches shows nothing of another's server.
            LogEvent::ConnectionMade => {
                for part in OF_SERVERS {
                    let course = &mut self.parts[part as usize];
                    let is_its = course.is_of(task.tag) || task.of_broker && course.is_of(BROKER);
                    if !course.is_open || is_its {
                        course.works();
                    }
                }
            }
            LogEvent::EspNowHeard => self.parts[CourseOf::EspNow as usize].works(),
            _ => {}
        }
    }

    /// Takes in that there is a link.
    pub(super) const fn link_is_back(&mut self) {
        self.parts[CourseOf::Link as usize].works();
        self.parts[CourseOf::Roams as usize].works();
    }

    /// Returns how a part fared.
    const fn of(&self, part: CourseOf) -> PartCourse {
        self.parts[part as usize]
    }

    /// Puts earlier courses of what needs the link back, where what failed since was none.
    pub(super) fn restore(&mut self, before: &Self) {
        for part in [CourseOf::Connections, CourseOf::Names, CourseOf::Tls] {
            self.parts[part as usize] = before.parts[part as usize];
        }
    }

    /// Returns whether a part failed at the log's end: one that never worked fails as long as nothing else is told.
    #[must_use]
    pub const fn fails_at_the_end(&self, part: CourseOf) -> bool {
        let course = self.parts[part as usize];
        course.first.is_some() && (!course.reached || self.now.since_ms(course.last) < END_MS)
    }

    /// Returns whether a part works, and has not failed since.
    #[must_use]
    pub const fn is_up(&self, part: CourseOf) -> bool {
        self.parts[part as usize].is_up()
    }

    /// Returns the line of a part's last failure.
    pub(super) const fn last_failure(&self, part: CourseOf) -> u64 {
        self.parts[part as usize].last.line
    }

    /// Returns whether a part was seen to work, and has not failed since.
    pub(super) const fn is_reached(&self, part: CourseOf) -> bool {
        let course = self.parts[part as usize];
        course.reached && !course.is_open
    }

    /// Returns at how many moments a part failed.
    #[must_use]
    pub const fn moments(&self, part: CourseOf) -> u64 {
        self.parts[part as usize].all
    }

    /// Returns whether a part failed, was made good each time, and fails no more often than is usual.
    #[must_use]
    pub const fn is_well(&self, part: CourseOf) -> bool {
        self.parts[part as usize].is_well(part, self.now)
    }
}

/// Returns the part whose failure an event tells.
fn failing(event: &LogEvent) -> Option<CourseOf> {
    Some(match event {
        LogEvent::Disconnected(BSS_TRANSITION) => CourseOf::Roams,
        LogEvent::Disconnected(_)
        | LogEvent::Words(
            WordCause::LinkEnded | WordCause::LinkFailed | WordCause::Absent | WordCause::Password,
        ) => CourseOf::Link,
        LogEvent::SocketError(_)
        | LogEvent::ConnectionFailed
        | LogEvent::ClientLeft
        | LogEvent::PingLost
        | LogEvent::Words(WordCause::Connections) => CourseOf::Connections,
        LogEvent::NameFailed | LogEvent::Words(WordCause::Names) => CourseOf::Names,
        LogEvent::TlsFailed(_) | LogEvent::Words(WordCause::Tls) => CourseOf::Tls,
        LogEvent::BrokerRefused | LogEvent::Sign(REFUSED) => CourseOf::Logins,
        LogEvent::BeaconTimeout => CourseOf::Beacons,
        LogEvent::EspNowUnheard => CourseOf::EspNow,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{CourseOf, LogReader, LogSummary};
    use std::format;
    use std::string::String;

    const JOINED: &str =
        "esp_netif_handlers: sta ip: 192.0.2.7, mask: 255.255.255.0, gw: 192.0.2.1";

    /// Returns what a log tells whose link is lost for 5 s after each of so many minutes, and holds for another hour.
    fn lost(minutes: u64, times: u64) -> LogSummary {
        let mut log = format!("I (1000) {JOINED}\n");
        for at in (1..=times).map(|it| it * minutes * 60_000) {
            log += &format!("W ({at}) app: disconnected, reason 200\nI ({}) {JOINED}\n", at + 5000);
        }
        log += &format!("I ({}) app: ok\n", (times * minutes + 60) * 60_000);
        read(&log)
    }

    fn read(log: &str) -> LogSummary {
        let mut reader = LogReader::new();
        reader.push(log.as_bytes());
        reader.finish()
    }

    #[test]
    fn what_seldom_fails_and_works_again_is_well() {
        for (minutes, times, well) in [
            (10, 1, true),
            (10, 2, true),
            (1, 3, false),
            (60, 2, true),
            (60, 5, false),
            (180, 5, true),
        ] {
            assert_eq!(lost(minutes, times).is_well(CourseOf::Link), well, "{minutes} {times}");
        }
        // Nothing failed, or fails still.
        assert!(!read(&format!("I (1000) {JOINED}\n")).is_well(CourseOf::Link));
        let down: String =
            (1..4).map(|it| format!("W ({it}00000) app: disconnected, reason 201\n")).collect();
        assert!(!read(&down).is_well(CourseOf::Link));
    }

    #[test]
    fn each_session_is_made_good_by_itself() {
        let log = |well: &str| {
            let mut log = format!("I (1000) {JOINED}\n");
            for at in (1..5).map(|it| it * 600_000) {
                log += &format!(
                    "E ({at}) influx: connect: errno 111\nI ({}) {well}: HTTP 200\n",
                    at + 500
                );
            }
            read(&(log + "I (2900000) app: ok\n"))
        };
        assert!(log("influx").is_well(CourseOf::Connections));
        assert!(!log("weather").is_well(CourseOf::Connections));
    }
}
