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
    /// A path that does not begin with a slash belongs to the working directory as it is when the download is asked
    /// for.
    public struct Destination: Sendable {
        /// What knows how a body gets to where it stands for.
        package protocol Place: Sendable {}

        package var place: any Place

        package init(_ place: any Place) {
            self.place = place
        }
    }
}
