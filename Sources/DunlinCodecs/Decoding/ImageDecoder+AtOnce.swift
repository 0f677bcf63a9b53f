public import DunlinTypes

extension ImageDecoder {
    /// Decodes a PNG or a JPEG where the caller is, in one go: for code that cannot wait, and knows from the header
    /// that the picture is small. It does not wait for its turn in the queue, and is not counted there.
    ///
    /// Other formats are decoded in steps only, and throw `ImageError.unsupported`.
    public func decodeAtOnce(_ bytes: Bytes, _ options: Options = Options()) throws(ImageError) -> ImageBuffer {
        let plan = try DecodePlan(try info(of: bytes), options, limits)
        let isTolerant = options.allowsTruncated
        switch plan.info.format {
        case .png:
            return try plan.runAtOnce(try PNGDecoder.open(bytes, plan.info, limits, isTolerant: isTolerant), bytes)
        case .jpeg:
            return try plan.runAtOnce(
                try JPEGDecoder.open(bytes, plan.info, eighths: plan.eighths, isTolerant: isTolerant), bytes)
        default: throw .unsupported(plan.info.format, what: "`decodeAtOnce` takes PNG and JPEG only; use `decode`")
        }
    }
}

extension DecodePlan {
    fileprivate func runAtOnce(
        _ decoder: consuming some RowDecoder & ~Copyable, _ bytes: Bytes
    ) throws(ImageError) -> ImageBuffer {
        var decoder = decoder
        guard decoder.size == decoded else {
            throw ImageError.damaged(info.format, fault: "its decoded size differs from its header's")
        }
        var pixels = [UInt8](repeating: 0, count: decoded.pixels * 4)
        var isWhole = true
        do throws(ImageError) {
            while try decoder.step(bytes, &pixels, rows: decoded.height) {}
        } catch {
            guard takesPart(after: error, pixels) else { throw error }
            isWhole = false
        }
        let picture = ImageBuffer(decoded, pixels, decoder.alpha, isOpaque: isWhole && !decoder.hasAlpha)
        return finishAtOnce(picture).carrying(scale: options.scale, profile: decoder.profile)
    }

    private func finishAtOnce(_ picture: ImageBuffer) -> ImageBuffer {
        var picture = picture
        if picture.size != target {
            var resizing = ResizingRows(picture, to: target, options.filter)
            while resizing.step(rows: target.height) {}
            picture = resizing.picture
        }
        return (options.appliesOrientation ? picture.applying(info.orientation) : picture).converted(to: options.alpha)
    }
}
