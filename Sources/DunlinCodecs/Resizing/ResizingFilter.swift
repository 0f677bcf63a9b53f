extension ImageBuffer {
    /// How a resized pixel is computed from those around its place.
    public enum Filter: Sendable, Hashable {
        /// The nearest pixel; for pixel art, and quick.
        case nearest
        /// A straight line from pixel to pixel; soft.
        case bilinear
        /// Mitchell and Netravali's cubic: a little soft, no visible rings.
        case mitchell
        /// Three lobes of Lanczos: sharp, with faint rings at hard edges.
        case lanczos

        /// The filter's reach, in pixels of the coarser of the two pictures.
        var radius: Double {
            switch self {
            case .nearest: 0
            case .bilinear: 1
            case .mitchell: 2
            case .lanczos: 3
            }
        }

        /// Returns the weight of a pixel at a distance.
        func weight(_ distance: Double) -> Double {
            let x = distance.magnitude
            if x >= radius { return 0 }
            switch self {
            case .nearest: return 1
            case .bilinear: return 1 - x
            case .mitchell:
                return x < 1
                    ? (7 * x * x * x - 12 * x * x + 16.0 / 3) / 6
                    : (-7.0 / 3 * x * x * x + 12 * x * x - 20 * x + 32.0 / 3) / 6
            case .lanczos: return Sine.normalized(x) * Sine.normalized(x / 3)
            }
        }
    }
}

/// Computes sines without a mathematics library, which would need an import.
enum Sine {
    /// Returns sin(πx) / πx for 0 ≤ x ≤ 3, correct to a millionth.
    static func normalized(_ x: Double) -> Double {
        if x < 1e-9 { return 1 }
        // sin(πx) has the period 2, and is odd around whole numbers.
        let nearest = x.rounded()
        let rest = (x - nearest) * Double.pi
        let square = rest * rest
        var (term, sum) = (rest, rest)
        for power in stride(from: 3.0, through: 15, by: 2) {
            term *= -square / (power * (power - 1))
            sum += term
        }
        let isOdd = Int(nearest) % 2 != 0
        return (isOdd ? -sum : sum) / (Double.pi * x)
    }
}

/// For each pixel of one side of a resized picture: its source pixels, and their weights.
struct ResizingWeights {
    struct Window {
        let first: Int
        /// The start of its weights among all, and their number.
        let start: Int
        let count: Int
    }

    private(set) var windows: [Window] = []
    private(set) var weights: [Float] = []

    init(from source: Int, to target: Int, _ filter: ImageBuffer.Filter) {
        let ratio = Double(source) / Double(target)
        let stretch = max(ratio, 1)
        let reach = filter.radius * stretch
        windows.reserveCapacity(target)
        for index in 0..<target {
            let center = (Double(index) + 0.5) * ratio
            guard filter != .nearest else {
                append(first: min(source - 1, Int(center)), [1])
                continue
            }
            // Pixels beyond an edge do not count; those within count for more instead.
            let first = max(0, Int((center - reach).rounded(.down)))
            let last = min(source - 1, Int((center + reach).rounded(.up)))
            append(
                first: first, (first...max(first, last)).map { filter.weight((Double($0) + 0.5 - center) / stretch) })
        }
    }

    /// Adds a window, with its weights scaled to a sum of 1.
    private mutating func append(first: Int, _ values: [Double]) {
        let leading = values.prefix { $0 == 0 }.count
        let kept = values.dropFirst(leading)
        let sum = kept.reduce(0, +)
        windows.append(Window(first: first + leading, start: weights.count, count: kept.count))
        weights += kept.map { Float($0 / sum) }
    }
}
