/// A number for every code point, kept as runs and found by binary search.
struct RangeTable: Sendable {
    private let starts: [UInt32]
    private let values: [UInt32]

    init(_ text: String) {
        var reader = TableReader(text)
        var starts: [UInt32] = []
        var values: [UInt32] = []
        var start: UInt32 = 0
        while let gap = reader.next(), let value = reader.next() {
            start += gap
            starts.append(start)
            values.append(value)
        }
        self.starts = starts
        self.values = values
    }

    subscript(_ scalar: Unicode.Scalar) -> UInt32 {
        var low = 0
        var high = starts.count
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= scalar.value { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? 0 : values[low - 1]
    }
}
