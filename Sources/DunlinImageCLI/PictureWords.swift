import DunlinCommandLine
import DunlinImages

/// Descriptions of pictures in words.
enum PictureWords {
    /// The header's information: `PNG, 640 x 480 pixels, RGB with alpha, 8 bits, 12 KiB`.
    static func of(_ info: ImageInfo, bytes: Int) -> String {
        var parts = [info.format.description, "\(info.displaySize) pixels"]
        if let frames = info.frameCount, frames > 1 { parts.append("\(frames) frames\(loops(info.loopCount))") }
        if info.orientation != .upright { parts.append("stored \(words(of: info.orientation))") }
        parts.append(colors(info))
        if let bits = info.bitsPerComponent { parts.append("\(bits) bits") }
        if info.metadataBytes > 0 { parts.append("\(info.metadataBytes.readableBytes) of profile and EXIF") }
        parts.append(bytes.readableBytes)
        return parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Why there are words instead of a picture.
    static func reason(_ refusal: TerminalImage.Refusal?) -> String? {
        switch refusal {
        // Whoever writes to a file knows that it is not a terminal.
        case .noTerminal, nil: nil
        case .dumbTerminal: "this terminal shows no pictures"
        case .noColor: "NO_COLOR is set"
        case .noUnicode: "this terminal shows no pictures, and its locale is not UTF-8; --as blocks draws anyway"
        }
    }

    private static func loops(_ count: Int?) -> String {
        switch count {
        case nil, 1: ""
        case 0: ", played for ever"
        case let count?: ", played \(count) times"
        }
    }

    private static func colors(_ info: ImageInfo) -> String {
        let name =
            switch info.colorModel {
            case .gray: "gray"
            case .rgb: "RGB"
            case .indexed: "a palette"
            case .cmyk: "CMYK"
            case .unknown: ""
            }
        return info.hasAlpha && !name.isEmpty ? name + " with alpha" : name
    }

    private static func words(of orientation: ImageOrientation) -> String {
        switch orientation {
        case .upright: "upright"
        case .mirrored: "mirrored"
        case .upsideDown: "upside down"
        case .mirroredUpsideDown: "upside down and mirrored"
        case .transposed: "turned left and mirrored"
        case .turnedLeft: "turned left"
        case .transversed: "turned right and mirrored"
        case .turnedRight: "turned right"
        }
    }
}
