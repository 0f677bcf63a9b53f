public import DunlinCodecs

/// Something that shows images: a single one, or one for each slot.
///
/// An `ImageBinding` tells it what to show, one call after another, and does not retain it.
public protocol ImageTarget: AnyObject, Sendable {
    /// Shows an image, or nothing for nil, in place of what is shown. Must not wait.
    func show(_ image: ImageBuffer?, in slot: ImageSlot)

    /// Called when an image requested by `begin` did not come; what is shown stays. Must not wait. Does nothing by
    /// default.
    func imageFailed(_ error: any Error, in slot: ImageSlot)
}

extension ImageTarget {
    public func imageFailed(_ error: any Error, in slot: ImageSlot) {}
}

/// A place of a target: its purpose, and the state of the target in which it is shown. Slots are independent.
public struct ImageSlot: Sendable, Hashable {
    public enum Role: String, Sendable, Hashable {
        case image, background
    }

    /// The states of a control, of which any number may apply; each combination has its own image.
    public struct State: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        public static let normal: State = []
        public static let highlighted = State(rawValue: 1)
        public static let disabled = State(rawValue: 2)
        public static let selected = State(rawValue: 4)
    }

    public var role: Role
    public var state: State

    public init(_ role: Role = .image, for state: State = .normal) {
        self.role = role
        self.state = state
    }

    /// The only slot of most targets.
    public static let image = ImageSlot(.image)
    public static let background = ImageSlot(.background)
}

/// What is shown while an image is loading. It stays if none comes.
public enum ImagePlaceholder: Sendable, Equatable {
    /// Keep what is shown.
    case keepCurrent
    /// Show nothing.
    case clear
    case image(ImageBuffer)
}
