//! Blocks of words, of few sizes, in one allocation.

const LINE_WORDS: usize = 8;
/// Words of the blocks of each size. A block begins at a multiple of its size or of [`LARGEST_CUT`], so small ones lie in one
/// line of a cache.
const SIZES: [usize; 6] = [2, 4, 8, 16, LARGEST_CUT, 512];
/// Smaller blocks are halves of the next larger ones.
const LARGEST_CUT: usize = 32;

#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Line([u64; LINE_WORDS]);

#[derive(Debug, Default)]
pub(super) struct Blocks {
    lines: Vec<Line>,
    /// For each size where the first free block begins, plus 1. It has the same of the next one in its first word.
    free: [u64; SIZES.len()],
}

impl Blocks {
    /// Sets memory aside for so many words more.
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

    /// Where a block of so many words begins, which is now taken. They are 0.
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

    /// Frees the block of so many words that begins there.
    pub fn give_back(&mut self, start: usize, words: usize) {
        let first = &mut self.free[size(words)];
        let next = std::mem::replace(first, start as u64 + 1);
        *self.word_mut(start) = next;
    }

    /// Words in use, and free ones.
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

/// Which of the sizes has so many words.
fn size(words: usize) -> usize {
    let found = SIZES.iter().position(|&size| size == words);
    found.expect("one of the sizes")
}
