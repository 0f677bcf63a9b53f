internal import DunlinCodecs

/// Records which image each slot of a target waits for, and who asked for it.
///
/// Rules: of two requests for a slot, the newer wins and the older is ended; a request equal to the loading one joins
/// it. Memory is asked first: an image from there is shown at once, without the placeholder. Each load has a number;
/// the result of a load that is no longer the slot's is ignored. An image is shown once, however many asked for it, and
/// not at all if each of them shows it himself. A failure shows nothing. Slots are independent.
struct ImageBindingMachine<Request: Equatable, Waiter> {
    typealias LoadID = UInt64
    typealias ViewerID = UInt64

    enum Outcome {
        case image(ImageBuffer)
        case failed(any Error)
        /// Another request replaced it.
        case replaced
        case cancelled
    }

    enum Action {
        /// Look in memory, and report the result.
        case begin(LoadID, Request)
        /// End the load, whose result nobody wants.
        case end(LoadID)
        case show(ImageBuffer?, ImageSlot)
        case answer(Waiter, Outcome, ImageSlot)
    }

    /// Somebody who asks for an image.
    struct Viewer {
        let waiter: Waiter
        /// Whether the viewer shows the image himself.
        var showsItself = false
        /// Whether the viewer may leave before the image has come.
        var mayLeave = true
    }

    private struct Load {
        let id: LoadID
        let request: Request
        var isInMemory: Bool?
        /// The placeholder requested last; nil once it is shown.
        var placeholder: ImagePlaceholder?
        /// The placeholder that is shown.
        var shownPlaceholder = ImagePlaceholder.keepCurrent
        /// The viewers, in order of arrival.
        var viewers: [(id: ViewerID, viewer: Viewer)]
    }

    private var loads: [ImageSlot: Load] = [:]
    private var lastID: UInt64 = 0

    /// The request that a slot waits for.
    func request(in slot: ImageSlot) -> Request? { loads[slot]?.request }

    /// Whether a slot waits for exactly this load.
    func isCurrent(_ id: LoadID) -> Bool { slot(of: id) != nil }

    /// Adds a request for an image. The viewer's number lets him leave.
    mutating func ask(
        _ request: Request, in slot: ImageSlot, _ placeholder: ImagePlaceholder, _ viewer: Viewer
    ) -> (viewer: ViewerID, actions: [Action]) {
        let id = nextID()
        if loads[slot]?.request == request {
            loads[slot]?.viewers.append((id, viewer))
            return (id, show(placeholder, in: slot))
        }
        let ended = drop(slot, .replaced)
        let load = Load(id: nextID(), request: request, placeholder: placeholder, viewers: [(id, viewer)])
        loads[slot] = load
        return (id, ended + [.begin(load.id, request)])
    }

    /// Handles an image for which no request is possible: what was loading before is ended all the same.
    mutating func refuse(in slot: ImageSlot, _ placeholder: ImagePlaceholder) -> [Action] {
        drop(slot, .replaced) + Self.showing(placeholder, in: slot)
    }

    /// Notes the result of looking in memory. Without an image, a load that is still current must be performed.
    mutating func lookedUp(_ id: LoadID, _ image: ImageBuffer?) -> [Action] {
        guard let slot = slot(of: id), let load = loads[slot], load.isInMemory == nil else { return [] }
        if let image { return finish(slot, .image(image)) }
        loads[slot]?.isInMemory = false
        return show(load.placeholder ?? .keepCurrent, in: slot)
    }

    mutating func loaded(_ id: LoadID, _ result: Result<ImageBuffer, any Error>) -> [Action] {
        guard let slot = slot(of: id) else { return [] }
        return switch result {
        case .success(let image): finish(slot, .image(image))
        case .failure(let error): finish(slot, .failed(error))
        }
    }

    /// Removes a viewer. The load ends with the last one.
    mutating func leave(_ id: ViewerID) -> [Action] {
        guard let slot = loads.first(where: { $0.value.viewers.contains { $0.id == id && $0.viewer.mayLeave } })?.key
        else { return [] }
        loads[slot]?.viewers.removeAll { $0.id == id }
        return loads[slot]?.viewers.isEmpty == true ? drop(slot, .cancelled) : []
    }

    /// Cancels a slot's load; no effect if it waits for nothing.
    mutating func cancel(_ slot: ImageSlot) -> [Action] { drop(slot, .cancelled) }

    mutating func cancelAll() -> [Action] {
        loads.values.sorted { $0.id < $1.id }.flatMap { drop(slot(of: $0.id) ?? .image, .cancelled) }
    }

    // MARK: -

    private mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    private func slot(of id: LoadID) -> ImageSlot? { loads.first { $0.value.id == id }?.key }

    private mutating func drop(_ slot: ImageSlot, _ outcome: Outcome) -> [Action] {
        guard let load = loads.removeValue(forKey: slot) else { return [] }
        return [.end(load.id)] + load.viewers.map { .answer($0.viewer.waiter, outcome, slot) }
    }

    private mutating func finish(_ slot: ImageSlot, _ outcome: Outcome) -> [Action] {
        guard let load = loads.removeValue(forKey: slot) else { return [] }
        var actions: [Action] = []
        if case .image(let image) = outcome, load.viewers.contains(where: { !$0.viewer.showsItself }) {
            actions.append(.show(image, slot))
        }
        return actions + load.viewers.map { .answer($0.viewer.waiter, outcome, slot) }
    }

    /// Shows a placeholder, now or after memory has answered. One that keeps what is shown undoes nothing.
    private mutating func show(_ placeholder: ImagePlaceholder, in slot: ImageSlot) -> [Action] {
        guard let load = loads[slot], placeholder != .keepCurrent else { return [] }
        if load.isInMemory == nil {
            loads[slot]?.placeholder = placeholder
            return []
        }
        guard load.shownPlaceholder != placeholder else { return [] }
        loads[slot]?.shownPlaceholder = placeholder
        return Self.showing(placeholder, in: slot)
    }

    private static func showing(_ placeholder: ImagePlaceholder, in slot: ImageSlot) -> [Action] {
        switch placeholder {
        case .keepCurrent: []
        case .clear: [.show(nil, slot)]
        case .image(let image): [.show(image, slot)]
        }
    }
}
