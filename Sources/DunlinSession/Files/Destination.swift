extension HTTPSession {
    /// Where a downloaded file goes.
    ///
    /// ```swift
    /// let image = try await client.download("disk.img", to: .file("/data/disk.img"))
    /// let film = try await client.download("films/7", to: .folder("/data"))
    /// ```
    ///
    /// `.file` is exactly there. `.folder` is in there, under the name that the server or the URL suggests.
    /// `.temporary` is somewhere, and the file is the caller's from then on. `.resolved { head, url in … }` is decided
    /// when the response's head has come.
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
