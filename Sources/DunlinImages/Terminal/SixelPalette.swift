/// The colours of a picture that may have only a limited number: its own if they suffice, otherwise the means of groups
/// of them, by median cut.
///
/// Sixel colours are in hundredths, so only those are chosen, and errors are computed from them.
struct SixelPalette {
    typealias Color = (red: Int, green: Int, blue: Int)

    /// The colours in hundredths.
    private(set) var hundredths: [Color] = []
    /// The colours as a terminal shows them, up to 255.
    private(set) var shown: [Color] = []
    /// Whether each colour of the picture has an exact match.
    let isExact: Bool
    /// The numbers of an exact palette's colours.
    private var numbers: [ShownPixels.Value: Int] = [:]
    /// For other palettes, the colour found for each combination of the channels' first five bits; -1 before it was
    /// looked for.
    private var found: [Int] = []

    init(of pixels: ShownPixels, limit: Int) {
        let limit = min(max(limit, 2), 256)
        if let colors = Self.fewColors(pixels, limit) {
            isExact = true
            for color in colors.sorted() { numbers[color] = append(ShownPixels.parts(color)) }
        } else {
            isExact = false
            found = [Int](repeating: -1, count: 1 << 15)
            for color in MedianCut(pixels, limit).colors { _ = append(color) }
        }
    }

    /// The number of the nearest colour.
    mutating func number(_ value: ShownPixels.Value) -> Int {
        if isExact { return numbers[value] ?? 0 }
        let key = Self.coarse(value)
        if found[key] < 0 { found[key] = nearest(value) }
        return found[key]
    }

    /// The first five bits of each channel.
    fileprivate static func coarse(_ value: ShownPixels.Value) -> Int {
        let (red, green, blue) = ShownPixels.parts(value)
        return (red >> 3) << 10 | (green >> 3) << 5 | blue >> 3
    }

    private func nearest(_ value: ShownPixels.Value) -> Int {
        let parts = ShownPixels.parts(value)
        var (best, least) = (0, Int.max)
        for (number, color) in shown.enumerated() {
            let (red, green, blue) = (color.red - parts.red, color.green - parts.green, color.blue - parts.blue)
            // The eye distinguishes greens best and blues worst.
            let error = 3 * red * red + 6 * green * green + blue * blue
            if error < least { (best, least) = (number, error) }
        }
        return best
    }

    /// Appends a colour. Returns its number, which may be that of a colour that looks the same.
    private mutating func append(_ color: Color) -> Int {
        let part = { (value: Int) in (value * 100 + 127) / 255 }
        let color = (red: part(color.red), green: part(color.green), blue: part(color.blue))
        if let number = hundredths.firstIndex(where: { $0 == color }) { return number }
        hundredths.append(color)
        let whole = { (value: Int) in (value * 255 + 50) / 100 }
        shown.append((whole(color.red), whole(color.green), whole(color.blue)))
        return hundredths.count - 1
    }

    private static func fewColors(_ pixels: ShownPixels, _ limit: Int) -> Set<ShownPixels.Value>? {
        var colors: Set<ShownPixels.Value> = []
        var last = ShownPixels.nothing
        for value in pixels.values where value != last && value != ShownPixels.nothing {
            last = value
            colors.insert(value)
            if colors.count > limit { return nil }
        }
        return colors
    }
}

/// Groups colours: the group with the greatest differences is split at its middle, until there are enough.
private struct MedianCut {
    private struct Entry {
        var count = 0
        var sums = [0, 0, 0]

        func mean(_ channel: Int) -> Int { sums[channel] / max(1, count) }
    }

    private struct Group {
        var entries: ArraySlice<Entry>
        let count: Int
        /// The channel in which the group's colours differ most, and by how much.
        let channel: Int
        let range: Int

        init(_ entries: ArraySlice<Entry>) {
            self.entries = entries
            count = entries.reduce(0) { $0 + $1.count }
            var (widest, range) = (0, 0)
            for channel in 0..<3 {
                let values = entries.map { $0.mean(channel) }
                let difference = (values.max() ?? 0) - (values.min() ?? 0)
                if difference > range { (widest, range) = (channel, difference) }
            }
            (channel, self.range) = (widest, range)
        }

        /// The weight of a group grows with its size, but not in proportion, since a few bright spots are visible too.
        var weight: Double { entries.count < 2 ? 0 : Double(range) * Double(count).squareRoot() }

        var mean: SixelPalette.Color {
            func mean(_ channel: Int) -> Int { entries.reduce(0) { $0 + $1.sums[channel] } / max(1, count) }
            return (mean(0), mean(1), mean(2))
        }

        func cut() -> (Group, Group) {
            let sorted = entries.sorted { $0.mean(channel) < $1.mean(channel) }
            var seen = 0
            let middle = sorted.firstIndex { entry in
                seen += entry.count
                return seen * 2 >= count
            }
            let index = min(max(1, (middle ?? 0) + 1), sorted.count - 1)
            return (Group(sorted[..<index]), Group(sorted[index...]))
        }
    }

    private(set) var colors: [SixelPalette.Color] = []

    init(_ pixels: ShownPixels, _ limit: Int) {
        var groups = [Group(Self.entries(pixels)[...])]
        while groups.count < limit {
            guard let index = groups.indices.max(by: { groups[$0].weight < groups[$1].weight }),
                groups[index].weight > 0
            else { break }
            let (first, second) = groups[index].cut()
            groups[index] = first
            groups.append(second)
        }
        colors = groups.map(\.mean)
    }

    /// The picture's colours; those that share the first five bits of each channel are counted as one.
    private static func entries(_ pixels: ShownPixels) -> [Entry] {
        var counts = [Int](repeating: 0, count: 1 << 15)
        var sums = [Int](repeating: 0, count: 3 << 15)
        for value in pixels.values where value != ShownPixels.nothing {
            let (red, green, blue) = ShownPixels.parts(value)
            let key = SixelPalette.coarse(value)
            counts[key] += 1
            sums[3 * key] += red
            sums[3 * key + 1] += green
            sums[3 * key + 2] += blue
        }
        return counts.indices.filter { counts[$0] > 0 }
            .map { Entry(count: counts[$0], sums: Array(sums[3 * $0..<3 * $0 + 3])) }
    }
}
