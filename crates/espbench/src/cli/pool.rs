//! Work on all cores, with results in order.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Does the jobs 0 to `count` - 1, each on whichever thread is free; the results stand at their
/// jobs' places, so they are the same for any number of threads. `done` is told of each as it ends.
/// After `cancel` no further job is begun: its place stays empty.
pub fn each<T: Send>(
    count: usize,
    threads: usize,
    cancel: &AtomicBool,
    job: impl Fn(usize) -> T + Sync,
    mut done: impl FnMut(usize),
) -> Vec<Option<T>> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let work = |sender: mpsc::Sender<(usize, T)>| {
        while !cancel.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            // The receiver lives as long as any worker.
            if at >= count || sender.send((at, job(at))).is_err() {
                break;
            }
        }
    };
    let work = &work;
    std::thread::scope(|scope| {
        let (sender, results_of) = mpsc::channel();
        let spawned = (0..threads.min(count).max(1)).filter(|_| {
            let (named, sender) = (std::thread::Builder::new(), sender.clone());
            named.spawn_scoped(scope, move || work(sender)).is_ok()
        });
        // Where there are fewer threads than asked for, those do it all, and this one where there is none.
        if spawned.count() == 0 {
            work(sender);
        } else {
            drop(sender);
        }
        for (at, result) in results_of {
            results[at] = Some(result);
            done(at);
        }
    });
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_jobs() {
        let cancel = AtomicBool::new(false);
        let squares = |threads| {
            let mut seen = 0;
            let results = each(50, threads, &cancel, |at| at * at, |_| seen += 1);
            assert_eq!(seen, 50);
            results
        };
        assert_eq!(squares(1), squares(4));
        assert_eq!(squares(4)[7], Some(49));
        assert!(each(0, 4, &cancel, |at| at, |_| ()).is_empty());
    }

    #[test]
    fn what_was_done_before_a_stop_is_kept() {
        let cancel = AtomicBool::new(false);
        let results = each(
            9,
            1,
            &cancel,
            |at| at,
            |at| {
                if at == 0 {
                    cancel.store(true, Ordering::Relaxed);
                }
            },
        );
        // The worker may have begun more before it saw the flag.
        assert_eq!(results[0], Some(0));
        let all = each(9, 2, &cancel, |at| at, |_| ());
        assert!(all.iter().all(Option::is_none));
    }
}
