//! Runs all inputs of the corpus, including all earlier finds.

use std::fs;
use std::path::Path;

use clap::ValueEnum as _;
use p4sched_fuzz::{Sessions, Target};

#[test]
fn no_input_of_the_corpus_is_a_find() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in Target::value_variants() {
        let mut taken = 0;
        for file in fs::read_dir(corpus.join(target.name())).expect("every target has inputs") {
            let path = file.expect("the folder can be read").path();
            println!("{}", path.display());
            target.run(&fs::read(&path).expect("it is a file"));
            taken += 1;
        }
        assert!(taken > 0, "{target:?}");
    }
}

#[test]
fn a_script_does_the_same_after_itself_and_what_was_played_can_be_played_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/p4runtime");
    let script = fs::read(folder.join("entries")).expect("it is a file");
    let (mut sessions, mut played) = (Sessions::default(), Vec::new());
    let outcomes = [(); 3].map(|()| Target::P4runtime.run_on(&mut sessions, &script, |text| played = text.to_vec()));
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[0], outcomes[2]);
    let again = Target::P4runtime.run(&played);
    let happens_again = |part| again.split(';').any(|other| other == part);
    assert!(outcomes[0].split(';').all(happens_again), "{again}");
}
