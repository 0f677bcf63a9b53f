extension ImageBuffer {
    /// The picture at another size; its shape changes where the size has another. Sums are made of the samples as they
    /// are stored, in the file's gamma, with alpha multiplied in.
    ///
    /// Runs on the default pool, some rows at a time, and ends with `CancellationError` when the task is cancelled.
    /// Throws `ImageError.invalidSize` for a size below 1 x 1, and `ImageError.limitExceeded` where the picture or what
    /// making it takes is beyond the limits.
    public func resized(
        to size: ImageSize, filter: Filter = .lanczos, limits: ImageLimits = ImageLimits()
    ) async throws -> ImageBuffer {
        if size == self.size { return self }
        guard size.width > 0, size.height > 0 else { throw ImageError.invalidSize(size) }
        try limits.check(.pixels, size.pixels)
        try limits.check(.decodeBytes, ResizingRows.bytes(from: self.size, to: size))
        return try await Work.away { try await resizedInSteps(to: size, filter) }
    }

    /// As `resized`, wherever the caller is.
    func resizedInSteps(to size: ImageSize, _ filter: Filter) async throws -> ImageBuffer {
        if size == self.size { return self }
        var rows = ResizingRows(self, to: size, filter)
        // A row of the result may take several of the source.
        let each = Work.rows(width: max(width, size.width) * max(1, height / size.height), atLeast: 1)
        try await Work.inSteps { rows.step(rows: each) }
        return rows.picture
    }
}
