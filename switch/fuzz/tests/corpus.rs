//! The inputs of the corpus, among them all that once were finds.

use std::fs;
use std::path::Path;

use clap::ValueEnum as _;
use p4sched_fuzz::Target;

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
