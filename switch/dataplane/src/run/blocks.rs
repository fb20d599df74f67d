//! Blocks of words in a few sizes, in one allocation.

const LINE_WORDS: usize = 8;
/// Words in the blocks of each size. A block begins at a multiple of its size or of [`LARGEST_CUT`], so a small block
/// lies in one cache line.
const SIZES: [usize; 6] = [2, 4, 8, 16, LARGEST_CUT, 512];
/// Largest block that is cut into two of the next smaller size.
const LARGEST_CUT: usize = 32;

#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Line([u64; LINE_WORDS]);

#[derive(Debug, Default)]
pub(super) struct Blocks {
    lines: Vec<Line>,
    /// Start of the first free block of each size, plus 1. The first word of a free block has that of the next one.
    free: [u64; SIZES.len()],
}

impl Blocks {
    /// Reserves memory for `words` more words.
    pub fn reserve(&mut self, words: usize) {
        self.lines.reserve_exact(words / LINE_WORDS);
    }

    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        self.lines[at / LINE_WORDS].0[at % LINE_WORDS]
    }

    #[inline]
    pub fn word_mut(&mut self, at: usize) -> &mut u64 {
        &mut self.lines[at / LINE_WORDS].0[at % LINE_WORDS]
    }

    /// The words of a block, line by line.
    #[inline]
    pub fn lines(&self, start: usize, words: usize) -> impl Iterator<Item = &[u64]> {
        let begin = start % LINE_WORDS;
        let end = LINE_WORDS.min(begin + words);
        self.lines[start / LINE_WORDS..][..words.div_ceil(LINE_WORDS)]
            .iter()
            .map(move |line| &line.0[begin..end])
    }

    /// Takes a free block of `words` words, and returns its start. Its words are 0.
    pub fn take(&mut self, words: usize) -> usize {
        let start = self.find(size(words));
        (start..start + words).for_each(|at| *self.word_mut(at) = 0);
        start
    }

    fn find(&mut self, size: usize) -> usize {
        if let Some(start) = self.free[size].checked_sub(1) {
            let start = start as usize;
            self.free[size] = self.word(start);
            return start;
        }
        if SIZES[size] < LARGEST_CUT {
            let start = self.find(size + 1);
            self.give_back(start + SIZES[size], SIZES[size]);
            return start;
        }
        let start = self.lines.len() * LINE_WORDS;
        self.lines.resize((start + SIZES[size]) / LINE_WORDS, Line::default());
        start
    }

    /// Frees a block of `words` words.
    pub fn give_back(&mut self, start: usize, words: usize) {
        let first = &mut self.free[size(words)];
        let next = std::mem::replace(first, start as u64 + 1);
        *self.word_mut(start) = next;
    }

    /// Number of used and of free words.
    #[cfg(test)]
    pub fn used_and_free(&self) -> (usize, usize) {
        let mut free = 0;
        for (size, &first) in SIZES.iter().zip(&self.free) {
            let mut next = first;
            while let Some(start) = next.checked_sub(1) {
                free += size;
                next = self.word(start as usize);
            }
        }
        (self.lines.len() * LINE_WORDS - free, free)
    }
}

/// Index of the size with `words` words.
fn size(words: usize) -> usize {
    let found = SIZES.iter().position(|&size| size == words);
    found.expect("one of the sizes")
}
