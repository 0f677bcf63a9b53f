extension ImageBuffer {
    /// Returns the picture at another size, stretched if the shape differs. Sums use the stored samples, in the file's
    /// gamma, with alpha multiplied in.
    ///
    /// Runs on the default pool, some rows at a time, and ends with `CancellationError` when the task is cancelled.
    /// Throws `ImageError.invalidSize` for a size below 1 x 1, and `ImageError.limitExceeded` if the picture or the
    /// memory for resizing exceeds the limits.
    public func resized(
        to size: ImageSize, filter: Filter = .lanczos, limits: ImageLimits = ImageLimits()
    ) async throws -> ImageBuffer {
        if size == self.size { return self }
        guard size.width > 0, size.height > 0 else { throw ImageError.invalidSize(size) }
        try limits.check(.pixels, size.pixels)
        try limits.check(.decodeBytes, ResizingRows.bytes(from: self.size, to: size))
        return try await Work.onDefaultPool { try await resizedInSteps(to: size, filter) }
    }

    /// Does what `resized` does, on the caller's executor.
    func resizedInSteps(to size: ImageSize, _ filter: Filter) async throws -> ImageBuffer {
        if size == self.size { return self }
        var rows = ResizingRows(self, to: size, filter)
        // A row of the result may need several rows of the source.
        let each = Work.rows(width: max(width, size.width) * max(1, height / size.height), atLeast: 1)
        try await Work.inSteps { rows.step(rows: each) }
        return rows.picture
    }
}
