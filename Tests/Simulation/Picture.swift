import SimulatedWorld

/// Draws how many requests succeed each second, with each policy. It has a background of its own, so it is readable on
/// a light and on a dark page.
struct Picture {
    private static let colours: [Policy: String] = [
        .none: "#8c959f", .naive: "#cf222e", .standard: "#8250df", .envoy: "#bf8700", .dunlin: "#0969da",
    ]
    private static let (width, height, left, top, right, bottom) = (760.0, 300.0, 52.0, 44.0, 88.0, 34.0)

    let text: String

    init(_ scenario: Scenario, _ asked: [Int], _ curves: [(policy: Policy, good: [Int])]) {
        let seconds = asked.count
        let capacity = (0..<seconds).map { scenario.server.capacity(at: Double($0) + 0.5) }
        let most = max(Self.smooth(asked).max() ?? 1, capacity[0]) * 1.05
        func x(_ second: Double) -> Double {
            Self.left + second / Double(seconds) * (Self.width - Self.left - Self.right)
        }
        func y(_ rate: Double) -> Double {
            Self.height - Self.bottom - rate / most * (Self.height - Self.top - Self.bottom)
        }
        func line(_ values: [Double], _ style: String) -> String {
            let points = values.enumerated().map {
                "\(Table.number(x(Double($0) + 0.5), 1)),\(Table.number(y($1), 1))"
            }
            return "<polyline fill=\"none\" \(style) points=\"\(points.joined(separator: " "))\"/>"
        }
        func label(_ x: Double, _ y: Double, _ text: String, _ style: String = "") -> String {
            "<text x=\"\(Table.number(x, 1))\" y=\"\(Table.number(y, 1))\"\(style)>\(text)</text>"
        }
        let end = ("\(Int(Self.width))", "\(Int(Self.height))")
        let disturbance = scenario.server.disturbance
        var shapes = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(end.0) \(end.1)\" width=\"\(end.0)\" "
                + "height=\"\(end.1)\" role=\"img\">",
            "<title>\(scenario.title): how many requests succeed each second, with each policy</title>",
            "<style>text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328 } "
                + ".heading { font-weight: bold } .small { font-size: 11px; fill: #59636e }</style>",
            "<rect x=\"0.5\" y=\"0.5\" width=\"\(Int(Self.width) - 1)\" height=\"\(Int(Self.height) - 1)\" rx=\"8\" "
                + "fill=\"#f6f8fa\" stroke=\"#d1d9e0\"/>",
            label(16, 24, scenario.title, " class=\"heading\""),
            "<rect x=\"\(Table.number(x(disturbance.lowerBound), 1))\" y=\"\(Table.number(Self.top, 1))\" width=\""
                + "\(Table.number(x(disturbance.upperBound) - x(disturbance.lowerBound), 1))\" height=\""
                + "\(Table.number(Self.height - Self.top - Self.bottom, 1))\" fill=\"#eaeef2\"/>",
            line(Self.smooth(asked), "stroke=\"#59636e\" stroke-dasharray=\"2 3\""),
            line(capacity, "stroke=\"#1f2328\" stroke-dasharray=\"6 3\""),
        ]
        for step in stride(from: 0.0, through: most, by: Self.step(most)) {
            shapes.append(label(16, y(step) + 4, Table.number(step, 0), " class=\"small\""))
        }
        for second in stride(from: 0, through: seconds, by: 20) {
            shapes.append(label(x(Double(second)) - 6, Self.height - 14, "\(second) s", " class=\"small\""))
        }
        for curve in curves {
            let style = "stroke=\"\(Self.colours[curve.policy] ?? "")\" stroke-width=\"2\""
            shapes.append(line(Self.smooth(curve.good), style))
        }
        let names = curves.map { ($0.policy.rawValue, Self.colours[$0.policy] ?? "") }
        for (row, name) in (names + [("asked", "#59636e"), ("possible", "#1f2328")]).enumerated() {
            let height = Self.top + 14 + Double(row) * 20
            shapes.append(label(Self.width - 76, height, name.0, " style=\"fill: \(name.1)\""))
        }
        text = (shapes + ["</svg>", ""]).joined(separator: "\n")
    }

    /// Each value with the two before and after.
    private static func smooth(_ values: [Int]) -> [Double] {
        values.indices.map { index in
            let near = values[max(0, index - 2)...min(values.count - 1, index + 2)]
            return Double(near.reduce(0, +)) / Double(near.count)
        }
    }

    /// A round step of which a few fit.
    private static func step(_ most: Double) -> Double {
        [1, 2, 5, 10, 20, 25, 50, 100, 200, 500].first { most / $0 <= 6 } ?? 1000
    }
}
