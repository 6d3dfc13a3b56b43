//! The deepest stack so far, by painting: what the program has not overwritten was never used.

/// Word that unused stack is filled with.
pub const PAINT: u32 = 0xA5A5_5A5A;

/// Fills unused stack.
pub fn paint(unused: &mut [u32]) {
    unused.fill(PAINT);
}

/// Returns the bytes at the low end that still have their paint: stacks grow down.
#[must_use]
pub fn untouched(stack: &[u32]) -> usize {
    stack.iter().take_while(|word| **word == PAINT).count() * size_of::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paint_that_is_left_is_what_was_never_used() {
        let mut stack = [0; 64];
        paint(&mut stack[..60]);
        assert_eq!(untouched(&stack), 240);
        stack[17] = 1;
        // A deep call may leave holes: paint above its deepest word does not count.
        assert_eq!(untouched(&stack), 68);
        stack[0] = 0;
        assert_eq!(untouched(&stack), 0);
        assert_eq!(untouched(&[]), 0);
    }
}
