extension HTTPSession {
    /// The destination of a downloaded file.
    ///
    /// ```swift
    /// let image = try await client.download("disk.img", to: .file("/data/disk.img"))
    /// let film = try await client.download("films/7", to: .folder("/data"))
    /// ```
    ///
    /// `.file` is exactly this path. `.folder` is a folder, in which the file gets the name that the server or URL
    /// suggests. `.temporary` is a temporary file, which then belongs to the caller. `.resolved { head, url in … }` is
    /// decided when the response's head has come.
    ///
    /// A relative path is resolved against the working directory at the time of the call.
    public struct Destination: Sendable {
        /// The kind of a destination, which knows how to bring a body there.
        package protocol Kind: Sendable {}

        package var kind: any Kind

        package init(_ kind: any Kind) {
            self.kind = kind
        }
    }
}
