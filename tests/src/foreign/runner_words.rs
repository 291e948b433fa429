//! What the host reads from the runner's pipe.

use replio::plugins::load::Ended;
use replio::plugins::report::Limits;
use replio::plugins::run::read_end;

const PLUGINS: usize = 3;

/// All that the runner says, of three plugins.
///
/// # Panics
/// When what must hold doesn't.
pub fn runner_words(mut bytes: &[u8]) {
    let limits = Limits { entries: 8, entry_bytes: 256, total_bytes: 1024, ..Limits::RELEASE };
    while let Ok(Some((ended, report))) = read_end(&mut bytes, &limits, PLUGINS) {
        assert!(ended.plugin < PLUGINS);
        assert!(report.len() == ended.report_bytes && report.len() <= limits.report_bytes());
        let words = written(&ended, &report);
        let (again, report_again) =
            read_end(&mut words.as_slice(), &limits, PLUGINS).expect("whole").expect("not at its end");
        assert_eq!((again.plugin, again.how, again.output), (ended.plugin, ended.how, ended.output));
        assert!(report_again == report);
    }
}

/// The words as the runner writes them.
fn written(ended: &Ended, report: &[u8]) -> Vec<u8> {
    let head = serde_json::to_vec(ended).expect("texts and numbers always serialize");
    let length = u32::try_from(head.len()).expect("it was read from about as many bytes");
    [&length.to_le_bytes()[..], &head, report].concat()
}
