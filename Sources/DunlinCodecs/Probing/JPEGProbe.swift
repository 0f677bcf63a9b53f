internal import DunlinTypes

/// Reads the segments of a JPEG up to its first scan (ITU-T T.81 §B.2; the ICC profile by ICC.1:2022 §B.4).
struct JPEGProbe {
    private let octets: Octets
    private var info: ImageInfo?
    private var orientation: ImageOrientation?
    private var metadataBytes = 0
    private var profile = ProfileParts()
    private var components: [(horizontal: Int, vertical: Int)] = []
    private var isProgressive = false

    static func info(_ bytes: Bytes) throws(ImageError) -> ImageInfo {
        var probe = JPEGProbe(octets: Octets(bytes))
        return try probe.read()
    }

    private init(octets: Octets) {
        self.octets = octets
    }

    private mutating func read() throws(ImageError) -> ImageInfo {
        var offset = 2
        while true {
            guard let mark = octets[offset] else { throw .truncated(.jpeg) }
            guard mark == 0xFF else { throw .damaged(.jpeg, fault: "a marker is missing") }
            // A marker may be preceded by any number of 0xFF.
            while octets[offset] == 0xFF { offset += 1 }
            guard let marker = octets[offset] else { throw .truncated(.jpeg) }
            offset += 1
            if marker == 0x01 || (0xD0...0xD8).contains(marker) { continue }
            if marker == 0xD9 { throw .damaged(.jpeg, fault: "it ends before its first frame") }
            guard let length = octets.big16(offset) else { throw .truncated(.jpeg) }
            guard length >= 2 else { throw .damaged(.jpeg, fault: "it has a segment of invalid length") }
            let segment = offset + 2
            guard let body = octets.slice(segment, Int(length) - 2) else { throw .truncated(.jpeg) }
            if marker == 0xDA { return try summary(Octets(body)) }
            try take(marker, body)
            offset += Int(length)
        }
    }

    private mutating func take(_ marker: UInt8, _ body: Bytes) throws(ImageError) {
        let segment = Octets(body)
        switch marker {
        case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: try takeFrame(marker, segment)
        case 0xE1 where segment.has("Exif\0\0", at: 0):
            metadataBytes += body.count
            orientation = orientation ?? EXIF.orientation(of: body[6..<body.count])
        case 0xE2 where segment.has("ICC_PROFILE\0", at: 0):
            metadataBytes += body.count
            profile.add(segment)
        default: break
        }
    }

    private mutating func takeFrame(_ marker: UInt8, _ segment: Octets) throws(ImageError) {
        guard info == nil else { throw .damaged(.jpeg, fault: "it has two frame headers") }
        guard let bits = segment[0], let height = segment.big16(1), let width = segment.big16(3),
            let count = segment[5], segment.holds(Int(count) * 3, at: 6)
        else { throw .truncated(.jpeg) }
        guard width > 0 else { throw .damaged(.jpeg, fault: "its width is 0") }
        guard height > 0 else { throw .unsupported(.jpeg, what: "its height is given after its pixels") }
        components = (0..<Int(count)).map { index in
            let factors = Int(segment[7 + index * 3] ?? 0)
            return (factors >> 4, factors & 15)
        }
        guard components.allSatisfy({ (1...4).contains($0.horizontal) && (1...4).contains($0.vertical) }) else {
            throw .damaged(.jpeg, fault: "its sampling factors exceed 4")
        }
        isProgressive = marker == 0xC2 || marker == 0xCA
        var info = ImageInfo(.jpeg, ImageSize(width: Int(width), height: Int(height)))
        info.bitsPerComponent = Int(bits)
        info.colorModel = [1: .gray, 3: .rgb, 4: .cmyk][Int(count)] ?? .unknown
        info.details.unsupported = Self.unsupported(marker, bits: bits, components: count)
        self.info = info
    }

    private static func unsupported(_ marker: UInt8, bits: UInt8, components: UInt8) -> String? {
        switch marker {
        case 0xC3, 0xC7, 0xCB, 0xCF: return "it is lossless JPEG"
        case 0xC5, 0xC6, 0xCD, 0xCE: return "it is hierarchical"
        default: break
        }
        if bits != 8 { return "it has \(bits) bits a sample" }
        return [1, 3, 4].contains(components) ? nil : "it has \(components) colour components"
    }

    /// Returns what is known at the start of the first scan.
    private func summary(_ scan: Octets) throws(ImageError) -> ImageInfo {
        guard var info else { throw .damaged(.jpeg, fault: "its pixels come before the frame header") }
        info.orientation = orientation ?? .upright
        info.metadataBytes = metadataBytes
        info.details.profile = profile.whole
        // Some rows of blocks; and all coefficients, two bytes each, if a scan lacks part of each pixel.
        info.details.workingBytes = info.size.width * components.count * 64
        if isProgressive || Int(scan[0] ?? 0) < components.count {
            info.details.workingBytes += coefficientBytes(info.size)
        }
        return info
    }

    private func coefficientBytes(_ size: ImageSize) -> Int {
        let (most, tall) = components.reduce((1, 1)) { (max($0.0, $1.horizontal), max($0.1, $1.vertical)) }
        let units = ((size.width + most * 8 - 1) / (most * 8)) * ((size.height + tall * 8 - 1) / (tall * 8))
        return components.reduce(0) { $0 + units * $1.horizontal * $1.vertical * 128 }
    }
}

extension JPEGProbe {
    /// An ICC profile in numbered segments, which may come in any order.
    private struct ProfileParts {
        private static let headLength = 14
        private var parts: [UInt8: Bytes] = [:]
        private var count: UInt8?

        mutating func add(_ segment: Octets) {
            guard let number = segment[12], let count = segment[13] else { return }
            self.count = self.count ?? count
            parts[number] = segment.bytes[Self.headLength..<segment.count]
        }

        /// The whole profile; nil if a part is missing.
        var whole: Bytes? {
            guard let count, count > 0 else { return nil }
            var profile: [UInt8] = []
            for number in 1...count {
                guard let part = parts[number] else { return nil }
                profile += part
            }
            return Bytes(profile)
        }
    }
}
