//! A checksum against damage (not against malice).

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a over words of eight bytes, the last one padded with zeros, then over the length.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(8);
    let mut sum = OFFSET;
    for word in &mut words {
        sum = mix(sum, u64::from_le_bytes(word.try_into().expect("chunks_exact gives eight bytes")));
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    mix(mix(sum, u64::from_le_bytes(last)), bytes.len() as u64)
}

// The rotation carries high bits down: a product alone never lets them reach lower ones.
fn mix(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(PRIME).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn every_single_bit_and_the_length_count() {
        let bytes: Vec<u8> = (0..37).collect();
        let whole = checksum(&bytes);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&damaged), whole, "bit {bit}");
        }
        assert_ne!(checksum(&[0; 8]), checksum(&[0; 9]));
        assert_ne!(checksum(&bytes[..36]), whole);
    }
}
