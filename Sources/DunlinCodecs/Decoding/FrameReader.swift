internal import DunlinTypes

/// Reads the frames of one picture, one at a time; the decoder's state is isolated to it.
actor FrameReader {
    private let decoder: ImageDecoder
    private let bytes: Bytes
    private let options: ImageDecoder.Options
    private var plan: DecodePlan?
    private var gif: GIFFrames?
    private var webp: WebPFrames?
    private var isOver = false
    private var count = 0

    init(_ decoder: ImageDecoder, _ bytes: Bytes, _ options: ImageDecoder.Options) {
        self.decoder = decoder
        self.bytes = bytes
        self.options = options
    }

    /// Returns the next frame; nil after the last, and after an error.
    func next() async throws -> ImageFrame? {
        if isOver { return nil }
        do {
            let plan = try plan ?? makePlan()
            guard let frame = try await decoder.queue.admit(plan.bytes, { try await self.frame(plan) }) else {
                end()
                return nil
            }
            count += 1
            return frame
        } catch {
            end()
            throw error
        }
    }

    private func end() {
        isOver = true
        gif = nil
        webp = nil
    }

    private func makePlan() throws -> DecodePlan {
        let info = try decoder.info(of: bytes)
        let frames = info.frameCount ?? 1
        try decoder.limits.check(.frames, frames)
        let (pixels, isBeyond) = info.size.pixels.multipliedReportingOverflow(by: frames)
        try decoder.limits.check(.animationPixels, isBeyond ? .max : pixels + info.details.unseenPixels)
        let plan = try DecodePlan(info, options, decoder.limits)
        self.plan = plan
        return plan
    }

    private func frame(_ plan: DecodePlan) async throws -> ImageFrame? {
        switch plan.info.format {
        case .gif: return try await gifFrame(plan)
        case .webp where plan.info.details.isAnimation: return try await webpFrame(plan)
        default:
            guard count == 0 else { return nil }
            return ImageFrame(picture: try await plan.picture(of: bytes), duration: .zero, index: 0)
        }
    }

    private func webpFrame(_ plan: DecodePlan) async throws -> ImageFrame? {
        if webp == nil { webp = try WebPFrames.open(bytes, plan.info, options.alpha) }
        guard let frame = try webp?.next() else { return nil }
        let duration = ImageFrame.duration(milliseconds: frame.milliseconds)
        return try await shown(frame.pixels, options.alpha, duration, plan)
    }

    private func gifFrame(_ plan: DecodePlan) async throws -> ImageFrame? {
        if gif == nil { gif = try GIFFrames(bytes, plan.info, isTolerant: options.allowsTruncated) }
        let rows = Work.rows(width: plan.decoded.width)
        var steps = 0
        while true {
            switch try gifStep(rows, plan) {
            case .more: break
            case .end, nil: return nil
            case .frame(let hundredths):
                let duration = ImageFrame.duration(milliseconds: hundredths * 10)
                return try await shown(gif?.canvas.pixels ?? [], .straight, duration, plan)
            }
            steps += 1
            try await Work.pass(after: steps)
        }
    }

    /// Decodes part of a GIF. Where an incomplete frame is allowed, it is the last one.
    private func gifStep(_ rows: Int, _ plan: DecodePlan) throws -> GIFFrames.Step? {
        do throws(ImageError) {
            return try gif?.step(bytes, rows: rows)
        } catch {
            guard gif?.isInFrame == true, plan.takesPart(after: error, gif?.canvas.pixels ?? []) else { throw error }
            isOver = true
            return .frame(hundredths: gif?.hundredths ?? 0)
        }
    }

    private func shown(
        _ pixels: [UInt8], _ alpha: ImageBuffer.Alpha, _ duration: Duration, _ plan: DecodePlan
    ) async throws -> ImageFrame {
        let picture = ImageBuffer(plan.info.size, pixels, alpha, isOpaque: !plan.info.hasAlpha)
        let shown = try await plan.finish(picture, profile: plan.info.details.profile)
        return ImageFrame(picture: shown, duration: duration, index: count)
    }
}
