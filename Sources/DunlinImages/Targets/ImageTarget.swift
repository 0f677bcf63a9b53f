public import DunlinCodecs

/// Something that shows images: one, or one for each slot.
///
/// An `ImageBinding` tells it what to show, one thing after the other, and does not keep it alive.
public protocol ImageTarget: AnyObject, Sendable {
    /// Shows an image, or nothing, in place of whatever is shown there. Must not wait.
    func show(_ image: ImageBuffer?, in slot: ImageSlot)

    /// An image that was asked for by `begin` did not come; what is shown stays. Must not wait. Does nothing by
    /// default.
    func imageFailed(_ error: any Error, in slot: ImageSlot)
}

extension ImageTarget {
    public func imageFailed(_ error: any Error, in slot: ImageSlot) {}
}

/// A place of a target: what it is for, and in which state of the target it is shown. All slots are independent.
public struct ImageSlot: Sendable, Hashable {
    public enum Role: String, Sendable, Hashable {
        case image, background
    }

    /// States of a control, several at a time or none; each combination has an image of its own.
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

    /// The only one of most targets.
    public static let image = ImageSlot(.image)
    public static let background = ImageSlot(.background)
}

/// What is shown while an image is on its way. It stays if none comes.
public enum ImagePlaceholder: Sendable, Equatable {
    /// What is shown already.
    case keepCurrent
    /// Nothing.
    case clear
    case image(ImageBuffer)
}
