internal import DunlinTypes

extension DecodePlan {
    /// Decodes the picture, and converts it as planned.
    func picture(of bytes: Bytes) async throws -> ImageBuffer {
        let isTolerant = options.allowsTruncated
        switch info.format {
        case .png: return try await png(bytes)
        case .jpeg:
            return try await run(try JPEGDecoder.open(bytes, info, eighths: eighths, isTolerant: isTolerant), bytes)
        case .webp where info.details.isAnimation: return try await firstFrame(bytes)
        case .webp: return try await run(try WebPDecoder(info, decoded, options.alpha), bytes)
        case .gif: return try await run(try GIFDecoder(bytes, info, isTolerant: isTolerant), bytes)
        case .bmp: return try await run(try BMPDecoder(bytes, try BMPProbe.header(bytes), .bmp), bytes)
        case .ico: return try await icon(bytes[info.details.range])
        case .tiff, .avif, .heif: throw ImageError.unsupported(info.format, what: "only its size can be read")
        }
    }

    private func png(_ bytes: Bytes) async throws -> ImageBuffer {
        try await run(try PNGDecoder.open(bytes, info, limits, isTolerant: options.allowsTruncated), bytes)
    }

    private func icon(_ bytes: Bytes) async throws -> ImageBuffer {
        if ImageFormat(sniffing: bytes) == .png {
            return try await png(bytes)
        }
        let header = try BMPHeader(Octets(bytes), at: 0, pixels: nil, format: .ico)
        return try await run(try BMPDecoder(bytes, header, .ico), bytes)
    }

    private func firstFrame(_ bytes: Bytes) async throws -> ImageBuffer {
        var frames = try WebPFrames.open(bytes, info, options.alpha)
        guard let frame = try frames.next() else { throw ImageError.truncated(.webp) }
        let picture = ImageBuffer(info.size, frame.pixels, options.alpha, isOpaque: !info.hasAlpha)
        return try await finish(picture, profile: info.details.profile)
    }

    private func run(_ decoder: consuming some RowDecoder & ~Copyable, _ bytes: Bytes) async throws -> ImageBuffer {
        var decoder = decoder
        guard decoder.size == decoded else {
            throw ImageError.damaged(info.format, fault: "its decoded size differs from its header's")
        }
        // The rest of an incomplete picture is shown.
        var pixels = decoder.hasOwnPixels ? [] : [UInt8].room(for: decoded, isZeroed: options.allowsTruncated)
        let rows = Work.rows(width: decoded.width)
        var isWhole = true
        do {
            try await Work.inSteps { try decoder.step(bytes, &pixels, rows: rows) }
        } catch let error as ImageError {
            guard takesPart(after: error, pixels) else { throw error }
            isWhole = false
        }
        guard pixels.count == decoded.pixels * 4 else {
            throw ImageError.damaged(info.format, fault: "it has no pixels")
        }
        let picture = ImageBuffer(decoded, pixels, decoder.alpha, isOpaque: isWhole && !decoder.hasAlpha)
        return try await finish(picture, profile: decoder.profile)
    }

    /// Whether what was decoded before an error is enough.
    func takesPart(after error: ImageError, _ pixels: [UInt8]) -> Bool {
        switch error {
        case .truncated, .damaged: options.allowsTruncated && pixels.contains { $0 != 0 }
        default: false
        }
    }

    /// Resizes, turns and converts a decoded picture as the options ask.
    func finish(_ picture: consuming ImageBuffer, profile: Bytes?) async throws -> ImageBuffer {
        var picture = try await picture.resizedInSteps(to: target, options.filter)
        if options.appliesOrientation, info.orientation != .upright {
            var turning = TurningRows(picture, info.orientation)
            let rows = Work.rows(width: picture.height)
            try await Work.inSteps { turning.step(rows: rows) }
            picture = turning.picture
        }
        // A slice would keep the whole file in memory.
        let profile = profile.map { Bytes($0.array) }
        return try await picture.convertedInSteps(to: options.alpha).carrying(scale: options.scale, profile: profile)
    }
}
