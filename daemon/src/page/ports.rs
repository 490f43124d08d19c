//! Ports that no browser opens, whoever listens there. A port comes in; whether it is one of them goes out.

/// The ports that are those of other protocols, and are refused by every browser: the list of "bad ports" of the Fetch standard, without 0,
/// which stands for a free one here.
const BAD: [u16; 82] = [
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113,
    115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556,
    563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
];

/// Whether browsers refuse to open this port.
pub(crate) fn is_bad(port: u16) -> bool {
    BAD.binary_search(&port).is_ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_list_is_in_order_so_that_it_can_be_searched() {
        assert!(BAD.is_sorted());
    }

    #[rstest]
    #[case::x11(6_000, true)]
    #[case::sip(5_060, true)]
    #[case::amanda(10_080, true)]
    #[case::free(0, false)]
    #[case::ours(7_420, false)]
    #[case::beside(6_001, false)]
    fn what_browsers_refuse_is_known(#[case] port: u16, #[case] expected: bool) {
        assert_eq!(is_bad(port), expected);
    }
}
