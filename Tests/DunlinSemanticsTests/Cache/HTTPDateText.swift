import DunlinSemantics

/// Dates as a played cache's origin writes them at the beginning.
enum HTTPDateText {
    static let now = at(0)

    static func at(_ offset: Int64) -> String { HTTPDate(seconds: PlayedCache().now + offset).description }
}
