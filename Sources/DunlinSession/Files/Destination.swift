extension HTTPSession {
    /// Where a downloaded file goes.
    ///
    /// ```swift
    /// .file("/data/disk.img")          // exactly there
    /// .folder("/data")                 // there, under the name that the server or the URL suggests
    /// .temporary                       // somewhere; the file is the caller's from then on
    /// .resolved { head, url in head.status == .ok ? .folder("/data") : nil }
    /// ```
    ///
    /// A relative path is resolved against the working directory at the time when the download is asked for.
    public struct Destination: Sendable {
        /// A place that knows how a body gets there.
        package protocol Place: Sendable {}

        package var place: any Place

        package init(_ place: any Place) {
            self.place = place
        }
    }
}
