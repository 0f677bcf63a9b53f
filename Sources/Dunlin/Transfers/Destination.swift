extension HTTPSession {
    /// Where a downloaded file goes.
    ///
    /// ```swift
    /// .file("/data/disk.img")          // exactly there
    /// .folder("/data")                 // there, under the name that the server or the URL suggests
    /// .temporary                       // somewhere; the file is the caller's from then on
    /// .decided { head, url in head.status == .ok ? .folder("/data") : nil }
    /// ```
    ///
    /// A path that does not begin with a slash belongs to the working directory as it is when the download is asked
    /// for.
    public struct Destination: Sendable {
        /// Asked when the response's head is there, with what answered: the URL that was asked for, or the one that the
        /// last redirect led to.
        public typealias Decision = @Sendable (_ head: ResponseHead, _ url: String) async -> Destination?

        enum Place: Sendable {
            case file(String)
            case folder(String)
            case temporary
            case decided(Decision)
        }

        var place: Place

        public static func file(_ path: String) -> Destination { Destination(place: .file(path)) }

        public static func folder(_ path: String) -> Destination { Destination(place: .folder(path)) }

        public static var temporary: Destination { Destination(place: .temporary) }

        /// With nil for an answer the file is a temporary one.
        public static func decided(_ decision: @escaping Decision) -> Destination {
            Destination(place: .decided(decision))
        }
    }
}
